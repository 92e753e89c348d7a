"""Checks of the values that optimizers, learning rates and transforms of plugins return."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.update.train_step import checked_optimizer
from tf_frame.learning_rates.warmup import learning_rate
from tf_frame.testing.toy import build_toy_graph

CONFIG = RunOptions(train_batch_size=8)


class Odd:
    """A plugin that returns what it was made with."""

    def __init__(self, returned):
        self.returned = returned

    def __call__(self, given):
        return self.returned


@pytest.mark.parametrize("returned", [None, "fast", [0.1, 0.2], 3])
def test_a_learning_rate_must_be_a_scalar(returned):
    with (
        tf.Graph().as_default(),
        pytest.raises(PluginError, match=r"Odd.__call__\(\) returned"),
    ):
        learning_rate(Odd(returned), config=CONFIG, global_step=tf.constant(0))


def test_rates_and_optimizers_of_tensorflow():
    with tf.Graph().as_default(), tf.Session() as session:
        rate = learning_rate(Odd(0.25), config=CONFIG, global_step=tf.constant(0))
        assert session.run(rate) == 0.25
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    assert checked_optimizer(optimizer, Odd(None)) is optimizer


@pytest.mark.parametrize("returned", [None, "adam"])
def test_an_optimizer_must_be_one(returned):
    with pytest.raises(
        PluginError, match=r"Odd.__call__\(\) returned .*must return a tf.compat.v1"
    ):
        checked_optimizer(returned, Odd(None))


def test_ready_must_be_a_tensor():
    class Ready(Odd):
        def __call__(self, given):
            return given

        def ready(self):
            return self.returned

    with pytest.raises(PluginError, match=r"Ready.ready\(\) returned 'yes'"):
        build_toy_graph(CONFIG, transforms=[Ready("yes")])


def test_freezing_everything_is_the_users_choice_and_refused():
    with pytest.raises(
        ConfigError, match="no trainable variable is left with a gradient after <lambda>"
    ):
        build_toy_graph(CONFIG, transforms=[lambda pairs: [(None, v) for _, v in pairs]])


def test_hooks_see_the_gradients_after_the_transforms():
    def first_gradient(*transforms):
        graph = build_toy_graph(CONFIG, transforms=transforms)
        with graph.graph.as_default(), tf.Session() as session:
            graph.scaffold.finalize()
            session.run([graph.scaffold.init_op, graph.scaffold.local_init_op])
            gradient, variable = graph.grads_and_vars[0]
            return variable.op.name, session.run(gradient)

    name, plain = first_gradient()
    name_of_doubled, doubled = first_gradient(lambda pairs: [(2 * g, v) for g, v in pairs])
    assert name == name_of_doubled and plain.any()
    np.testing.assert_allclose(doubled, 2 * plain)
