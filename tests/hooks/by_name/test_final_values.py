import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook
from tf_frame.hooks.by_name.final_values import FinalValuesHook
from tf_frame.hooks.cadence import Cadence


class See(Hook):
    """Notes the value of a tensor before every step."""

    def __init__(self, tensor):
        super().__init__(Cadence(every_steps=1))
        self.tensor, self.values = tensor, []

    def before_step(self, run_context, step):
        self.values.append(run_context.session.run(self.tensor))


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", ["linear/weights", "linear/weights:0"])
def test_a_variable_is_read_after_the_last_step(build, train, name):
    graph = build()
    with graph.graph.as_default():
        (weights,) = (v for v in tf.global_variables() if v.op.name == "linear/weights")
        see = See(weights.read_value())
    hook, longer = FinalValuesHook([name, "global_step"]), FinalValuesHook([name])
    train(graph, [hook], to=3)
    assert hook.values["global_step"] == 3
    with graph.graph.as_default():
        train(graph, [see, longer], to=4)
    # What stood before the fourth step is what the third one left.
    assert np.array_equal(hook.values[name], see.values[3])
    assert not np.array_equal(longer.values[name], see.values[3])


def test_tensors_and_their_names_are_evaluated_with_feeds(build, train):
    graph = build()
    with graph.graph.as_default():
        fed = tf.placeholder(tf.float32, [], name="fed")
        tf.add(fed, 1.0, name="more")
    hook = FinalValuesHook(["more:0", "fed"], feeds={fed: 4.0})
    train(graph, [hook], to=2)
    assert hook.values == {"more:0": 5.0, "fed": 4.0}
    other = build()
    with other.graph.as_default():
        seven = tf.constant(7)
    hook = FinalValuesHook({"seven": seven})
    train(other, [hook], to=2)
    assert hook.values == {"seven": 7}


def test_the_values_are_logged(build, train, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    graph = build()
    with graph.graph.as_default():
        tensors = {"pair": tf.constant([[0.5], [1 / 3]]), "word": tf.constant("hello")}
    train(graph, [FinalValuesHook(tensors)], to=1)
    lines = [line for line in caplog.messages if line.startswith("after training: ")]
    assert lines == [
        "after training: pair = [[0.5 ], [0.333333]]",
        "after training: word = b'hello'",
    ]


def test_after_an_error_nothing_is_evaluated(build, train):
    hook = FinalValuesHook(["global_step"])
    with pytest.raises(RuntimeError, match="failed"):
        train(build(), [hook, Lose(1, RuntimeError("failed"))], to=2)
    assert hook.values is None and not hook.cadence


def test_a_name_that_the_graph_lacks_is_refused_before_training(build, train):
    with pytest.raises(ConfigError, match="is called 'linear/weihgts'; did you mean linear/weig"):
        train(build(), [FinalValuesHook(["linear/weihgts"])], to=2)
