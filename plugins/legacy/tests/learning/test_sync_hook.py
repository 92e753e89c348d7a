"""The hook of scripts for slim that train with `tf.train.SyncReplicasOptimizer`."""

import contextlib
import threading

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError
from tf_frame_legacy.learning.sync_hook import SyncReplicasHook

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)


def synchronous(rate=0.5, workers=1, aggregated=1):
    return tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(rate), aggregated, total_num_replicas=workers
    )


def build_graph(rate=0.5, *, is_chief=True, num_tokens=0):
    """Returns variable, training operation and hook."""
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", initializer=1.0)
    optimizer = synchronous(rate)
    update = optimizer.apply_gradients([(tf.constant(1.0), weights)], step)
    return weights, update, SyncReplicasHook(optimizer, is_chief=is_chief, num_tokens=num_tokens)


@pytest.fixture
def hooked():
    """Runs the hook of a worker in a session; yields a function that returns the tokens."""

    @contextlib.contextmanager
    def enter(**options):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            *_, hook = build_graph(**options)
            hook.begin()
            (queue,) = (op for op in graph.get_operations() if "FIFOQueue" in op.type)
            size = tf.raw_ops.QueueSizeV2(handle=queue.outputs[0])
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            hook.after_create_session(session, coordinator)
            yield lambda: session.run(size)
            coordinator.request_stop()
            coordinator.join()

    return enter


@pytest.mark.parametrize(("is_chief", "tokens"), [(True, 3), (False, 0)])
def test_the_chief_deals_out_the_first_tokens(hooked, is_chief, tokens):
    with hooked(is_chief=is_chief, num_tokens=3) as queue_size:
        assert queue_size() == tokens


@pytest.mark.parametrize(("is_chief", "threads"), [(True, 2), (False, 0)])
def test_only_the_chief_makes_updates(hooked, is_chief, threads):
    with hooked(is_chief=is_chief):
        names = [thread.name for thread in threading.enumerate()]
        assert names.count("sync_replicas") == threads


def test_the_hook_comes_after_apply_gradients():
    with tf.Graph().as_default():
        hook = SyncReplicasHook(synchronous(), is_chief=True, num_tokens=0)
        with pytest.raises(ValueError, match="Should be called after apply_gradients"):
            hook.begin()


def test_variables_without_a_value_are_named():
    with tf.Graph().as_default(), tf.Session() as session:
        *_, hook = build_graph()
        hook.begin()
        with pytest.raises(TfFrameError, match="without one are global_step, weights"):
            hook.after_create_session(session, tf.train.Coordinator())


def test_a_monitored_session_trains_and_ends(variable_mode):
    # Within the time of this test: TensorFlow's own hook takes two minutes to end.
    with tf.Graph().as_default():
        weights, update, hook = build_graph()
        with tf.control_dependencies([update]):
            seen = weights.read_value()
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert [session.run(seen) for _ in range(3)] == [0.5, 0.0, -0.5]


def test_an_update_that_fails_ends_the_training_with_its_error():
    with tf.Graph().as_default():
        rate = tf.debugging.check_numerics(tf.constant(float("nan")), "a rate that is no number")
        _, update, hook = build_graph(rate)
        wrong = pytest.raises(tf.errors.InvalidArgumentError, match="a rate that is no number")
        with wrong, tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(update)
