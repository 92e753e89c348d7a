import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.inference.eval_graph import build_eval_graph, find_session_state
from tf_frame.plugin import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.testing.toy import ToyInput, ToyModel


class Numbers(Input):
    """The numbers 0 to 6, and what the test makes of a batch."""

    def __init__(self, parts=lambda x: (x, x)):
        super().__init__(params=None)
        self.parts = parts

    def dataset(self, mode, context):
        self.asked = mode, context
        return tf.data.Dataset.range(7).batch(context.batch_size).map(self.parts)


class Net(Model):
    """A model that the test builds."""

    def __init__(self, build):
        self._build = build

    def build(self, features, labels, mode):
        self.mode = mode
        tf.get_variable("w", [], initializer=tf.zeros_initializer())
        return self._build(features, labels)


def evaluated(model, source=None, steps=None):
    """Builds the graph of a model, runs it to the end, and returns the values."""
    config = RunOptions(eval_batch_size=3, random_seed=5)
    graph = build_eval_graph(model=model, source=source or Numbers(), config=config, steps=steps)
    with graph.graph.as_default(), tf.train.MonitoredSession() as session:
        values, runs = {}, 0
        while True:
            try:
                session.run(graph.update_op)
            except tf.errors.OutOfRangeError:
                return values, runs
            values = session.run_step_fn(
                lambda step_context: step_context.session.run(graph.values)
            )
            runs += 1


def build_mean(features, labels):
    return ModelOutput(metrics={"mean": tf.metrics.mean(features)})


def test_metrics_and_losses_of_an_evaluation():
    source, model = Numbers(), Net(build_mean)
    evaluated(model, source)
    mode, context = source.asked
    assert (mode, context.batch_size, context.seed) == (Mode.EVAL, 3, 5)
    assert model.mode == Mode.EVAL
    assert evaluated(Net(build_mean)) == ({"mean": 3.0}, 3)
    assert evaluated(Net(build_mean), steps=2) == ({"mean": 2.5}, 2)
    loss = Net(lambda features, labels: ModelOutput(loss=tf.reduce_mean(tf.to_float(features))))
    assert evaluated(loss) == ({"loss": 3.0}, 3)

    def build(features, labels):
        tf.losses.add_loss(tf.reduce_mean(tf.to_float(features)))
        tf.losses.add_loss(tf.constant(10.0))
        return ModelOutput()

    assert evaluated(Net(build))[0] == {"loss": 13.0}


def penalised(features, labels):
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(100.0))
    return ModelOutput(loss=tf.reduce_mean(tf.to_float(labels)))


def over_odd_numbers(features, labels):
    odd = tf.to_float(features % 2)
    total, count = tf.reduce_sum(odd * tf.to_float(features)), tf.reduce_sum(odd)
    terms = [(total, count), (3 * count, tf.reduce_sum(features))]
    return ModelOutput(loss=tf.constant(np.nan), loss_terms=terms)


@pytest.mark.parametrize(
    "parts, build, expected",
    slow_but(
        (0, 1, -1),
        [
            (lambda x: (x, x), penalised, {"loss": 3.0, "total_loss": 103.0}),
            (lambda x: ({"a": tf.range(9), "b": tf.constant(1), "x": x}, x), penalised, 3.0),
            (lambda x: (tf.sparse.from_dense(x + 1), x), penalised, 3.0),
            (lambda x: (tf.RaggedTensor.from_row_lengths(x, tf.ones_like(x)), x), penalised, 3.0),
            (lambda x: (tf.constant(1), x), penalised, 3.0),
            (
                lambda x: (tf.ensure_shape(tf.py_function(lambda y: y, [x], x.dtype), None), x),
                penalised,
                3.0,
            ),
            # The number of examples is unknown: the mean over the batches 1, 4 and 6.
            (
                lambda x: ((tf.range(2), tf.range(5)), tf.reduce_mean(x)),
                penalised,
                pytest.approx(11 / 3),
            ),
            # Odd are 1, 3 and 5, their sum is 9; a batch has none.
            (lambda x: (x, x), over_odd_numbers, pytest.approx(9 / 3 + 3 * 3 / 21)),
        ],
        several=True,
    ),
    ids=["one", "several", "sparse", "ragged", "labels", "unshaped", "unknown", "terms"],
)
def test_the_loss_is_a_mean_over_the_examples(parts, build, expected, caplog):
    values, _ = evaluated(Net(build), Numbers(parts))
    expected = expected if isinstance(expected, dict) else {"loss": expected}
    assert {name: values[name] for name in expected} == expected
    is_unknown = "mean over its batches" in caplog.text
    assert is_unknown == (expected["loss"] == 11 / 3)


def test_examples_of_several_inputs_are_added_up():
    class Both(Numbers):
        def dataset(self, mode, context):
            pairs = tf.data.Dataset.range(10, 20).batch(2).map(lambda x: (x, x))
            return [super().dataset(mode, context), pairs]

    def build(features, labels):
        return ModelOutput(loss=tf.reduce_mean(tf.to_float(tf.concat(labels, axis=0))))

    expected = np.mean([0, 1, 2, 10, 11, 3, 4, 5, 12, 13, 6, 14, 15])
    assert evaluated(Net(build), Both()) == ({"loss": pytest.approx(expected)}, 3)


def test_a_metric_of_the_model_may_be_called_loss():
    def build(features, labels):
        return ModelOutput(loss=tf.constant(1.0), metrics={"loss": tf.metrics.mean(features)})

    assert evaluated(Net(build))[0] == {"loss": 3.0}


@pytest.mark.parametrize(
    "parts",
    [
        lambda x: ({"a": x, "b": {"c": x}}, x),
        lambda x: (tf.sparse.from_dense(x), tf.RaggedTensor.from_row_lengths(x, [tf.size(x)])),
        lambda x: (x, None),
    ],
    ids=["nested", "composite", "without labels"],
)
def test_an_update_uses_up_a_batch_of_any_structure(parts):
    def build(features, labels):
        return ModelOutput(metrics={"one": tf.metrics.mean(tf.constant(1.0))})

    assert evaluated(Net(build), Numbers(parts)) == ({"one": 1.0}, 3)


def test_the_ends_are_what_an_evaluation_runs():
    def build(features, labels):
        tf.summary.scalar("first", features[0])
        return ModelOutput(metrics={"mean": tf.metrics.mean(features)})

    config = RunOptions(eval_batch_size=3)
    graph = build_eval_graph(model=Net(build), source=Numbers(), config=config)
    assert graph.ends == [graph.update_op, graph.values["mean"], graph.summary_op]
    plain = build_eval_graph(model=Net(build_mean), source=Numbers(), config=config)
    assert plain.summary_op is None
    assert plain.ends == [plain.update_op, plain.values["mean"]]
    assert graph.global_step.op.name == "global_step"


@pytest.mark.parametrize(
    ("delay_steps", "rounds", "waits"), [(-1, False, False), (0, True, False), (7, True, True)]
)
def test_evaluation_waits_for_the_step_of_the_options(delay_steps, rounds, waits):
    config = RunOptions(quantize_delay_step=delay_steps)
    model = ToyModel(params=ToyModel.Params(), info=InputInfo())
    source = ToyInput(params=ToyInput.Params())
    graph = build_eval_graph(model=model, source=source, config=config).graph
    operations = graph.get_operations()
    assert any("FakeQuant" in op.type for op in operations) is rounds
    compared = [op for op in operations if op.name.endswith("quantize_now")]
    assert len(compared) == waits


tables = tf.lookup.experimental


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: tf.FIFOQueue(2, tf.float32), "FIFOQueueV2"),
        (lambda: tf.RandomShuffleQueue(4, 1, tf.float32), "RandomShuffleQueueV2"),
        (lambda: tf.PaddingFIFOQueue(4, [tf.float32], [[None]]), "PaddingFIFOQueueV2"),
        (lambda: tf.PriorityQueue(4, [tf.float32], [[]]), "PriorityQueueV2"),
        (lambda: tf.TFRecordReader(), "TFRecordReaderV2"),
        (lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)), "OneShotIterator"),
        (lambda: tables.MutableHashTable(tf.string, tf.int64, 0), "MutableHashTableV2"),
        (lambda: tables.DenseHashTable(tf.int64, tf.int64, 0, -1, -2), "MutableDenseHashTableV2"),
        (lambda: tf.ConditionalAccumulator(tf.float32), "ResourceConditionalAccumulator"),
    ],
)
def test_queues_and_the_like_count_wherever_they_are(make, kind):
    make()
    assert find_session_state([tf.constant(1)]).startswith(f"{kind} '")


@pytest.mark.usefixtures("graph")
def test_state_of_a_session_is_named_unless_it_can_be_set_back(variable_mode):
    dataset = (
        tf.data.Dataset.range(9).shuffle(9).map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64))
    )
    batch = tf.data.make_initializable_iterator(dataset).get_next()
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([0], [1], tf.int64, tf.int64), default_value=0
    )
    weights = tf.get_variable("w", [3], initializer=tf.random_normal_initializer())
    stateless = tf.random.stateless_uniform([3], seed=[1, 2])
    value, update = tf.metrics.mean(tf.cast(table.lookup(batch), tf.float32) * weights + stateless)
    assert find_session_state([value, update]) == ""
    tf.add_to_collection(tf.GraphKeys.LOCAL_RESOURCES, tf.constant(1))
    assert find_session_state([tf.constant(1)]) == "a local resource"


def draw():
    return tf.random.normal([3])


def draw_in_loop():
    return tf.while_loop(lambda x: x < 3.0, lambda x: x + tf.random.uniform([]), [0.0])


def draw_in_branch_of_branch():
    def branch():
        return tf.cond(tf.constant(True), lambda: tf.random.uniform([]), lambda: 0.0)

    return tf.cond(tf.constant(True), branch, lambda: 0.0)


def draw_in_one_of_several_branches():
    branches = {0: lambda: tf.constant(0.0), 1: lambda: tf.random.uniform([])}
    return tf.compat.v2.switch_case(tf.constant(1), branches, default=lambda: tf.constant(1.0))


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    "make", [draw, draw_in_loop, draw_in_branch_of_branch, draw_in_one_of_several_branches]
)
@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_random_numbers_count_where_they_are_drawn_for_what_is_run(make, control_flow):
    if control_flow == "v1":
        tf.disable_control_flow_v2()
    try:
        drawn = make()
    finally:
        tf.enable_control_flow_v2()
    assert find_session_state([drawn + 1.0]).startswith("random numbers, Random")
    assert find_session_state([tf.constant(1)]) == ""
