"""`SyncReplicasOptimizer` for old scripts: how its updates end."""

import time

import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer

from .signatures import list_arguments

pytestmark = [pytest.mark.usefixtures("graph", "variable_mode"), pytest.mark.timeout(60)]


def model(**arguments):
    """The weight after n updates is 4 * 0.8 ** n."""
    optimizer = SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, **arguments)
    weight = tf.get_variable("w", initializer=4.0)
    step = tf.train.get_or_create_global_step()
    return optimizer, optimizer.minimize(tf.square(weight), global_step=step), weight


def test_arguments_are_tensorflows_and_the_old_replica_id():
    arguments = list_arguments(tf.train.SyncReplicasOptimizer.__init__)
    assert list_arguments(SyncReplicasOptimizer.__init__) == f"{arguments}, *, replica_id=None"


def test_old_arguments_and_the_chief_of_a_supervisor():
    optimizer, train_op, weight = model(replica_id=0, total_num_replicas=1)
    runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op(0)
    assert optimizer.get_chief_queue_runner() is runner
    supervisor = tf.train.Supervisor(logdir=None, summary_op=None)
    session = supervisor.prepare_or_wait_for_session()
    supervisor.start_queue_runners(session, [runner])
    session.run(tokens)
    for _ in range(3):
        session.run(train_op)
    assert session.run(weight) == pytest.approx(4 * 0.8**3)
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 10  # TensorFlow's would wait for two minutes.


def test_a_worker_gets_tokens_for_its_last_steps_and_then_the_end():
    optimizer, train_op, _ = model(total_num_replicas=1)
    clean_up_op = optimizer.get_clean_up_op()
    with initialized_session() as session:
        session.run(clean_up_op)
        for _ in range(3):
            session.run(train_op)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(train_op)


def test_the_hook_ends_at_once(tmp_path):
    optimizer, train_op, _ = model(total_num_replicas=1)
    hooks = [optimizer.make_session_run_hook(True, 0), tf.train.StopAtStepHook(last_step=4)]
    started = time.monotonic()
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, save_summaries_steps=None
    ) as session:
        while not session.should_stop():
            session.run(train_op)
    assert time.monotonic() - started < 30
    assert tf.train.load_variable(str(tmp_path), "w") == pytest.approx(4 * 0.8**4)
