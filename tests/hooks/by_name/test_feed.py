import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook
from tf_frame.hooks.by_name.feed import FeedHook, feed_value, tensor_by_name
from tf_frame.hooks.cadence import Cadence
from tf_frame.testing.toy import ToyModel, build_toy_graph

CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)


class Gated(ToyModel):
    """A model that reads placeholders."""

    def build(self, features, labels, mode):
        keep = tf.placeholder_with_default(1.0, [], name="keep")
        pair = tf.placeholder_with_default([1, 2], [2], name="pair")
        with tf.control_dependencies([tf.identity(pair)]):
            return super().build(features * keep, labels, mode)


@pytest.fixture
def graph():
    return build_toy_graph(CONFIG, model=Gated(params=Gated.Params(), info=None))


class See(Hook):
    """Notes the values of a tensor in every step."""

    def __init__(self, name):
        super().__init__(Cadence(every_steps=1))
        self.name, self.values = name, []

    def begin(self):
        self.tensor = tensor_by_name(tf.get_default_graph(), self.name)

    def before_step(self, run_context, step):
        return tf.train.SessionRunArgs(self.tensor)

    def after_step(self, run_context, run_values, step):
        self.values.append(run_values.results.tolist())


@pytest.mark.parametrize("output", ["", ":0"])
def test_a_constant_is_fed_in_every_step(train, graph, output):
    name = full(graph, "keep") + output
    see = See(name)
    feed = FeedHook({name: 0.25})
    train(graph, [see, feed], to=3)
    assert see.values == [0.25] * 3
    assert feed.cadence.every_steps == 1


def full(graph, name):
    return next(o.name for o in graph.graph.get_operations() if o.name.endswith(name))


def test_a_text_becomes_what_the_tensor_holds(train, graph):
    keep, pair = full(graph, "keep"), full(graph, "pair")
    see = See(pair)
    train(graph, [see, FeedHook({keep: "0.5", pair: "[3, 4]"})], to=2)
    assert see.values == [[3, 4]] * 2


def test_a_tensor_that_another_hook_feeds_is_refused(train, graph):
    tensor = tensor_by_name(graph.graph, full(graph, "keep"))
    hooks = [FeedHook({tensor.name: 0.5}), tf.train.FeedFnHook(lambda: {tensor: 1.5})]
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks."):
        train(graph, hooks, to=1)


def begin(graph, values):
    with graph.as_default(), pytest.raises(ConfigError) as error:
        FeedHook(values).begin()
    return str(error.value)


@pytest.fixture
def plain():
    """A graph with tensors of several types."""
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [], name="keep_prob")
        tf.placeholder(tf.bool, [], name="training")
        tf.placeholder(tf.int32, [2], name="size")
        tf.placeholder(tf.string, [], name="word")
        tf.placeholder(tf.bfloat16, [], name="half")
        tf.get_variable("weights", [2], use_resource=True)
    return graph


def test_a_tensor_that_is_not_there_is_answered_with_near_ones(plain):
    assert begin(plain, {"keep_prop:0": 1}) == (
        "no tensor of the graph is called 'keep_prop:0'; did you mean keep_prob?"
    )
    assert begin(plain, {"zzz": 1}).endswith("see TensorBoard's graph for the names")
    assert "is called 'keep_prob:1'" in begin(plain, {"keep_prob:1": 1})
    assert "is called 'a:b:c'" in begin(plain, {"a:b:c": 1})


def test_a_variable_cannot_be_fed(plain):
    assert "tensor 'weights:0' is of type resource and cannot be fed" in begin(
        plain, {"weights:0": 1}
    )


def test_a_tensor_that_the_graph_keeps_from_feeding_is_refused(plain):
    plain.prevent_feeding(plain.get_tensor_by_name("word:0"))
    assert "tensor 'word' is of type string and cannot be fed" in begin(plain, {"word": "a"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("keep_prob", "0.5", 0.5),
        ("keep_prob", 1, 1.0),
        ("keep_prob", "1", 1.0),
        ("keep_prob", np.float64(0.5), 0.5),
        ("half", "0.5", 0.5),
        ("training", "true", True),
        ("training", False, False),
        ("size", "[3, 4]", [3, 4]),
        ("size", (3, 4), [3, 4]),
        ("word", "[3]", "[3]"),
    ],
)
def test_values_are_read_as_the_tensor_asks(plain, name, value, expected):
    tensor = tensor_by_name(plain, name)
    array = feed_value(tensor, value)
    assert array.tolist() == expected
    assert array.dtype == tensor.dtype.as_numpy_dtype
    with tf.Session(graph=plain) as session:
        with plain.as_default():
            same = tf.identity(tensor)
        fed = session.run(same, {tensor: array})
    fed = fed.decode() if isinstance(fed, bytes) else np.asarray(fed).tolist()
    assert fed == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("keep_prob", "half", "'keep_prob:0' of type float32 cannot be fed 'half': Expecting"),
        ("size", "[1.5, 2]", "of type int32 cannot be fed '[1.5, 2]': it is float64"),
        ("training", "1", "of type bool cannot be fed '1': it is int64"),
        ("keep_prob", "true", "of type float32 cannot be fed 'true': it is bool"),
        ("size", "[1, 2, 3]", "of shape (2,) cannot be fed '[1, 2, 3]', which has shape (3,)"),
        ("keep_prob", [1.0], "of shape () cannot be fed [1.0], which has shape (1,)"),
        ("size", "[[1], [1, 2]]", "cannot be fed '[[1], [1, 2]]': "),
    ],
)
def test_a_value_that_does_not_fit_is_refused(plain, name, value, message):
    assert message in begin(plain, {name: value})
