import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, train_steps
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.gradient_transforms.noise import Noise
from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.stateless_random import make_stateless
from tf_frame.graph.step_loop import build_step_loop
from tf_frame.plugin import Model, ModelOutput
from tf_frame.testing.toy import build_toy_graph


def step_graph(draw, *, seed=1, graph_seed=1):
    """A graph whose step draws numbers, and counts; returns graph, step, numbers, reasons."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(graph_seed)
        global_step = tf.train.create_global_step()
        numbers = [tf.identity(part) for part in tf.nest.flatten(draw())]
        with tf.control_dependencies([*numbers, tf.assign_add(global_step, 1)]):
            step = tf.no_op(name="step")
        reasons = make_stateless(step, global_step=global_step, seed=seed)
    return graph, step, numbers, reasons


def run_steps(made, count, *, start=0):
    """Numbers of `count` steps in a new session that begins at global step `start`."""
    graph, step, numbers, _ = made
    with initialized_session(graph) as session:
        tf.train.get_global_step().load(start, session)
        return [session.run([*numbers, step])[:-1] for _ in range(count)]


def uniform():
    return tf.random_uniform([8], name="draw")


def equal(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.usefixtures("variable_mode")
def test_the_step_of_a_session_decides_and_is_read_before_it_is_counted():
    made = step_graph(lambda: [uniform(), tf.random_normal([3]), tf.nn.dropout(tf.ones([9]), 0.5)])
    assert made[-1] == []
    whole = run_steps(made, 5)
    for start in range(5):
        for step, numbers in enumerate(run_steps(made, 5 - start, start=start), start):
            assert equal(numbers, whole[step])
    graph, *_ = step_graph(uniform)
    (index,) = [op for op in graph.get_operations() if op.name == "repeatable/index_of_run"]
    (count,) = [op for op in graph.get_operations() if op.type.startswith("AssignAdd")]
    reads = {op.name for op in ancestors([index])}
    assert any(op.name in reads for op in count.control_inputs)


def test_numbers_follow_from_step_seed_and_name():
    def first(draw=uniform, **options):
        return run_steps(step_graph(draw, **options), 1)[0][0].tolist()

    variants = [
        first(),
        first(seed=2),
        first(lambda: tf.random_uniform([8], name="other")),
        first(lambda: tf.random_uniform([8], name="draw", seed=5)),
        first(graph_seed=2),
    ]
    assert first() == variants[0]
    assert len({number for variant in variants for number in variant}) == 8 * len(variants)
    made = step_graph(lambda: [uniform(), uniform(), tf.random_uniform([8], seed=1), uniform()])
    numbers = np.array(run_steps(made, 4)).reshape(-1)
    assert len(set(numbers.tolist())) == numbers.size == 128
    made = step_graph(lambda: [tf.random_uniform([4], seed=7), tf.random_uniform([4], seed=7)])
    ((first, second),) = run_steps(made, 1)
    assert not set(first.tolist()) & set(second.tolist())


def test_initial_values_and_what_no_step_runs_stay():
    def draw():
        tf.get_variable("v", [4], initializer=tf.random_uniform_initializer())
        tf.summary.histogram("noise", tf.random_uniform([4], name="summary"))
        return uniform()

    graph, *_ = step_graph(draw)
    with graph.as_default():
        (histogram,) = tf.get_collection(tf.GraphKeys.SUMMARIES)
        assert histogram.op.inputs[1].op.type == "RandomUniform"
        (variable,) = [v for v in tf.global_variables() if v.op.name == "v"]
        kinds = {op.type for op in ancestors([variable.initializer])}
        assert "RandomUniform" in kinds and "StatelessRandomUniformV2" not in kinds


def test_shape_type_device_and_waiting_are_those_of_the_op():
    def draw():
        waited, shape = tf.no_op(name="waited"), tf.constant([2, 3])
        with tf.device("/device:CPU:3"), tf.control_dependencies([waited]), tf.name_scope("block"):
            return tf.raw_ops.RandomUniform(shape=shape, dtype=tf.float64, name="uniform")

    _, _, (numbers,), _ = step_graph(draw)
    new = numbers.op.inputs[0]
    while new.op.type != "StatelessRandomUniformV2":
        new = new.op.inputs[0]
    assert (new.shape, new.dtype, new.device) == ([2, 3], tf.float64, "/device:CPU:3")
    assert new.op.name.startswith("block/uniform_repeatable/")
    assert "waited" in {op.name for op in ancestors([new])}


def test_shapes_are_kept_and_graphs_without_random_ops_left_alone():
    made = step_graph(lambda: tf.random_uniform(tf.placeholder_with_default([2, 3], [2])))
    assert made[2][0].shape.as_list() == [None, None]
    assert [numbers[0].shape for numbers in run_steps(made, 2)] == [(2, 3), (2, 3)]
    graph, *_, reasons = step_graph(lambda: tf.random.stateless_uniform([2], [1, 2]))
    assert reasons == []
    assert not [op for op in graph.get_operations() if op.name.startswith("repeatable")]
    *_, reasons = step_graph(
        lambda: tf.cond(tf.train.get_global_step() < 3, lambda: 1.0, lambda: 0.0)
    )
    assert reasons == []
    graph = build_toy_graph(CONFIG, transforms=[Noise(params=Noise.Params())])
    kinds = {op.type for op in ancestors([graph.train_op])}
    assert graph.not_repeatable == [] and "RandomStandardNormal" not in kinds


def python_noise():
    return tf.py_func(lambda: np.float32(0), [], tf.float32, name="in_python")


def in_branch():
    return tf.cond(
        tf.train.get_global_step() < 3, lambda: tf.random_uniform([]), lambda: 0.0, name="branch"
    )


def in_loop():
    return tf.while_loop(
        lambda x: x < 1.0, lambda x: x + tf.random_uniform([], name="inner"), [0.0], name="loop"
    )


def in_nested_function():
    @tf.function
    def outer():
        return in_branch()

    return outer()


def sampled():
    return tf.nn.uniform_candidate_sampler(
        tf.constant([[1]], tf.int64), 1, 2, True, 10, name="sampler"
    ).sampled_candidates


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (python_noise, r"^in_python: .*PyFunc calls Python code"),
        (in_branch, r"^branch: .*If calls a function with the random op .*\(RandomUniform\)"),
        (in_loop, r"^loop: .*While calls a function with the random op .*inner.*\(RandomUniform\)"),
        (in_nested_function, r"PartitionedCall calls a function with the random op"),
        (sampled, r"^sampler: UniformCandidateSampler is a random op that has no stateless"),
    ],
)
def test_a_random_op_that_has_to_stay_is_named(draw, reason):
    *_, reasons = step_graph(lambda: [uniform(), draw()])
    (said,) = reasons
    assert re.search(reason, said)


def recurrent(dropout):
    ones = tf.ones([1, 1, 1])
    return tf.raw_ops.CudnnRNN(
        input=ones, input_h=ones, input_c=ones, params=tf.ones([8]), dropout=dropout
    ).output


def pooled(deterministic):
    return tf.raw_ops.FractionalMaxPool(
        value=tf.ones([1, 4, 4, 1]),
        pooling_ratio=[1.0, 1.5, 1.5, 1.0],
        deterministic=deterministic,
        seed=1,
        seed2=1,
    ).output


@pytest.mark.parametrize(
    ("draw", "setting", "named"),
    [(recurrent, 0.0, False), (recurrent, 0.5, True), (pooled, True, False), (pooled, False, True)],
)
def test_dropout_of_cudnn_and_pooling_of_random_regions_are_named(draw, setting, named):
    *_, reasons = step_graph(lambda: draw(setting))
    assert bool(reasons) is named


@pytest.mark.usefixtures("variable_mode")
def test_a_saver_that_was_there_before_can_still_restore(tmp_path):
    savers = []

    def draw():
        savers.append(tf.train.Saver([tf.train.get_global_step()]))
        return uniform()

    graph, step, *_ = step_graph(draw)
    with initialized_session(graph) as session:
        session.run(step)
        path = savers[0].save(session, str(tmp_path / "model.ckpt"))
    with graph.as_default(), tf.Session() as session:
        savers[0].restore(session, path)
        assert session.run(tf.train.get_global_step()) == 1


def test_random_ops_in_switches_are_named():
    tf.disable_control_flow_v2()
    try:
        *_, reasons = step_graph(in_branch)
    finally:
        tf.enable_control_flow_v2()
    (reason,) = reasons
    assert reason.startswith("branch/") and "RandomUniform is in a loop or branch" in reason


class Dropout(Model):
    """Trains a weight on the mean of a mask, and keeps the mask."""

    def build(self, features, labels, mode):
        weights = tf.get_variable("weights", [3, 64], initializer=tf.ones_initializer())
        mask = tf.nn.dropout(tf.ones([64]), rate=0.5, name="dropout")
        self.masks = [*getattr(self, "masks", []), mask]
        return ModelOutput(loss=tf.reduce_mean(tf.matmul(features, weights) * mask))


CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)


def dropout_graph(config=CONFIG, **options):
    model = Dropout(params=None, info=None)
    return build_toy_graph(config, model=model, **options), model.masks


def train(graph, masks, count):
    return train_steps(graph, count, fetch=[*masks, graph.train_op])[1]


def test_masks_differ_between_clones_and_stay_for_gradients():
    config = RunOptions(train_batch_size=8, num_clones=2)
    deployment = DeploymentConfig(num_clones=2, clone_on_cpu=True)
    graph, masks = dropout_graph(config, deployment=deployment)
    for first, second, _ in train(graph, masks, 3):
        assert set(first.tolist()) == set(second.tolist()) == {0.0, 2.0}
        assert (first != second).mean() > 0.2
    graph, masks = dropout_graph(optimizer="sgd")
    with initialized_session(graph.graph) as session:
        (weights,) = tf.trainable_variables()
        before = session.run(weights)
        mask, _ = session.run([masks[0], graph.train_op])
        moved = np.any(session.run(weights) != before, axis=0)
    np.testing.assert_array_equal(moved, mask != 0)


@pytest.mark.usefixtures("variable_mode")
def test_the_batches_of_an_accumulated_step_have_masks_of_their_own():
    transform = Accumulate(params=Accumulate.Params(steps=3))
    graph, masks = dropout_graph(transforms=[transform])
    runs = [mask for mask, _ in train(graph, masks, 6)]
    for index, mask in enumerate(runs):
        assert all((mask != other).mean() > 0.2 for other in runs[:index])
    # As a run that is resumed between two updates begins.
    with initialized_session(graph.graph) as session:
        for variable in tf.global_variables():
            if variable.op.name in ("global_step", "accumulate/runs"):
                variable.load(1, session)
        resumed = [session.run([*masks, graph.train_op])[0] for _ in range(2)]
    assert equal(resumed, runs[4:])


def test_steps_in_a_loop_draw_what_single_steps_draw():
    graph, masks = dropout_graph()
    single = train(graph, masks, 6)
    graph, masks = dropout_graph()
    with graph.graph.as_default():
        loop = build_step_loop(graph, steps=4)
        with initialized_session() as session:
            first = session.run([*masks, graph.train_op])[0]
            loop.prepare(session)(4)
            last = session.run([*masks, graph.train_op])[0]
    assert equal([first, last], [single[0][0], single[5][0]])
