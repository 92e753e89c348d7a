import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.stock.feed_fn import FeedFnHook


class Read(Hook):
    """Reads a tensor in every step."""

    def __init__(self, tensor):
        super().__init__(Cadence(every_steps=1))
        self.tensor, self.values = tensor, []

    def before_step(self, run_context, step):
        return tf.train.SessionRunArgs(self.tensor)

    def after_step(self, run_context, run_values, step):
        self.values.append(float(run_values.results))


@pytest.mark.usefixtures("variable_mode")
def test_every_step_is_fed_from_a_call_of_its_own(build, train):
    graph, calls = build(), iter(range(100))
    with graph.graph.as_default():
        fed = tf.placeholder(tf.float32, [])
        read = Read(fed * 2)
    train(graph, [read, FeedFnHook(lambda: {fed: next(calls)})], to=4)
    assert read.values == [0, 2, 4, 6]


def test_a_placeholder_fed_by_two_hooks_is_refused(build, train):
    graph = build()
    with graph.graph.as_default():
        fed = tf.placeholder(tf.float32, [])
    hooks = [FeedFnHook(lambda: {fed: 1.0}), FeedFnHook(lambda: {fed: 2.0})]
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks."):
        train(graph, hooks, to=1)


def test_what_one_does_not_feed_another_may(build, train):
    graph = build()
    with graph.graph.as_default():
        one, two = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        read = Read(one + two)
    train(graph, [FeedFnHook(lambda: {one: 1.0}), read, FeedFnHook(lambda: {two: 2.0})], to=1)
    assert read.values == [3.0]


def test_the_function_can_be_read_and_every_step_is_wanted():
    def feed():
        return {}

    hook = FeedFnHook(feed)
    assert hook.feed_fn is feed
    assert hook.cadence.every_steps == 1
