import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import ModelOutput
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.step_loop import build_step_loop, find_obstacle
from tf_frame.testing.toy import ToyInput, ToyModel, build_toy_graph

CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)


def toy_graph(config=CONFIG, model=ToyModel, **options):
    source = ToyInput(params=ToyInput.Params(shuffle=True))
    return build_toy_graph(
        config,
        model=model(params=model.Params(l2=0.01), info=None),
        source=source,
        deployment=make_deployment(config, Cluster()),
        **options,
    )


def train(graph, calls, in_loop=False):
    """Runs so many steps in each call; returns every variable and the last result."""
    loop = build_step_loop(graph, steps=100, watched=[graph.train_op]) if in_loop else None
    proto = tf.ConfigProto(device_count={"CPU": len(graph.clones)})
    with initialized_session(graph.graph, proto) as session:
        many = loop and loop.prepare(session)
        for count in calls:
            if loop is None or count == 1:
                for _ in range(count):
                    result = session.run([graph.train_op, graph.step_after])
            else:
                result = many(count)
        return session.run({v.op.name: v for v in tf.global_variables()}), result[:2]


def assert_same(one, other):
    (values, (loss, step)), (values_2, (loss_2, step_2)) = one, other
    assert (loss, step) == (loss_2, step_2)
    assert values.keys() == values_2.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(value, values_2[name], err_msg=name)


@pytest.mark.parametrize(
    "optimizer",
    [
        pytest.param("momentum", marks=pytest.mark.slow),
        "adam",
        pytest.param("lamb", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("num_clones", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_loop_of_steps_does_what_as_many_runs_do(optimizer, num_clones):
    config = RunOptions(train_batch_size=8, learning_rate=0.05, num_clones=num_clones)
    options = {"optimizer": optimizer, "schedule": "exponential"}
    single = train(toy_graph(config, **options), [1, 16, 1, 2])
    many = train(toy_graph(config, **options), [1, 16, 1, 2], in_loop=True)
    assert single[1][1] == 20
    assert_same(single, many)


@pytest.mark.slow
def test_update_ops_and_averages_run_within_the_loop():
    class Normalised(ToyModel):
        def build(self, features, labels, mode):
            mean = tf.get_variable("moving_mean", [3], trainable=False)
            update = mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(features, 0))
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
            return super().build(features, labels, mode)

    config = RunOptions(train_batch_size=8, learning_rate=0.05, moving_average_decay=0.9)
    single = train(toy_graph(config, Normalised), [1, 9])
    many = train(toy_graph(config, Normalised), [1, 9], in_loop=True)
    assert "linear/weights/ExponentialMovingAverage" in single[0]
    assert np.abs(single[0]["moving_mean"]).max() > 0
    assert_same(single, many)


@pytest.mark.slow
def test_random_numbers_of_a_step_are_the_same_within_the_loop():
    class Dropped(ToyModel):
        def build(self, features, labels, mode):
            return super().build(tf.nn.dropout(features, rate=0.5), labels, mode)

    single = train(toy_graph(model=Dropped), [1, 9])
    many = train(toy_graph(model=Dropped), [1, 9], in_loop=True)
    assert_same(single, many)
    plain = train(toy_graph(), [1, 9])
    assert plain[1][0] != single[1][0]


def test_a_table_and_a_python_function_of_the_model_run_within_the_loop():
    calls = []

    def halve(x):
        calls.append(1)
        return 0.5 * x

    class Looks(ToyModel):
        def build(self, features, labels, mode):
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["a"], [2.0]), default_value=0.0
            )
            features *= table.lookup(tf.constant("a"))
            (halved,) = tf.py_func(halve, [features], [tf.float32], stateful=True)
            halved.set_shape(features.shape)
            return super().build(halved, labels, mode)

    plain = train(toy_graph(), [1, 9])
    looked = train(toy_graph(model=Looks), [1, 9], in_loop=True)
    assert_same(plain, looked)
    assert len(calls) == 10


def test_the_loop_ends_after_the_step_whose_loss_is_not_finite():
    graph = build_toy_graph(
        CONFIG, model=ToyModel(params=ToyModel.Params(nan_at_step=5), info=None)
    )
    _, (loss, step) = train(graph, [1, 50], in_loop=True)
    assert np.isnan(loss)
    assert step == 6


class Fed(ToyModel):
    def build(self, features, labels, mode):
        return super().build(features * tf.placeholder(tf.float32, []), labels, mode)


class Old(ToyModel):
    """With a loop of TensorFlow 1's control flow."""

    def build(self, features, labels, mode):
        tf.disable_control_flow_v2()
        try:
            _, features = tf.while_loop(
                lambda i, x: i < 2, lambda i, x: (i + 1, x), (0, features), parallel_iterations=1
            )
        finally:
            tf.enable_control_flow_v2()
        return super().build(features, labels, mode)


class Constant(ToyModel):
    def build(self, features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
        return ModelOutput(loss=tf.square(weight))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Fed, "Placeholder has to be fed"),
        (Old, "belongs to TensorFlow 1's control flow"),
        (Constant, "the input is no tf.data.Dataset"),
    ],
)
def test_a_graph_that_cannot_loop_is_refused_with_the_reason(model, reason):
    graph = build_toy_graph(CONFIG, model=model(params=model.Params(), info=None))
    assert reason in find_obstacle(graph)
    with pytest.raises(ValueError, match=reason):
        build_step_loop(graph, steps=10)


@pytest.mark.usefixtures("reference_variables")
def test_reference_variables_cannot_loop():
    assert find_obstacle(toy_graph()).endswith("is a reference variable")


def test_loops_are_refused_for_queues_and_old_control_flow():
    class Queue(ToyInput):
        def dataset(self, mode, context):
            queue = tf.FIFOQueue(10, [tf.float32] * 2, [[8, 3], [8, 1]])
            tf.train.add_queue_runner(
                tf.train.QueueRunner(queue, [queue.enqueue([tf.ones([8, 3]), tf.ones([8, 1])])])
            )
            return queue.dequeue

    graph = build_toy_graph(CONFIG, source=Queue(params=Queue.Params()))
    assert "reads the queue" in find_obstacle(graph)
    graph = toy_graph()
    tf.disable_control_flow_v2()
    try:
        assert find_obstacle(graph) == "TensorFlow 2's control flow is switched off"
    finally:
        tf.enable_control_flow_v2()
