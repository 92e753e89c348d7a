import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.train_and_eval import stop_signal
from tf_frame.estimator.train_and_eval.stop_signal import FollowChiefHook, TellWorkersHook
from tf_frame.hooks.early_stopping import EarlyStoppingHook


def chief_hook(reasons):
    """The hook of a chief that stops once there is a reason."""
    hook = EarlyStoppingHook(
        lambda _: "".join(reasons), dict, run_every_secs=None, run_every_steps=1
    )
    return TellWorkersHook(hook)


class Task:
    """One task that trains: a graph of its own, and a session to the same server as the others."""

    def __init__(self, target, hook, *, is_chief):
        self.hook = hook
        with tf.Graph().as_default():
            with tf.device("/device:CPU:0"):
                self.step = tf.train.create_global_step()
            hook.begin()
            self.added = self.step.assign_add(1)
            self.saved = tf.global_variables() + tf.local_variables()
            initialize = tf.variables_initializer([self.step])
            self.session = tf.Session(target)
            if is_chief:
                self.session.run(initialize)
        hook.start(self.session, 0)

    def run(self):
        """Runs a step; returns whether the hook asks for a stop."""
        args = self.hook.before_step(None, 1)
        fetches = [self.added] if args is None else [self.added, args.fetches]
        step, *results = self.session.run(fetches)
        context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), self.session)
        if self.hook.cadence.wants(int(step)):
            values = tf.train.SessionRunValues(results[0] if results else None, None, None)
            self.hook.after_step(context, values, int(step))
        return context.stop_requested


@pytest.fixture
def target():
    server = tf.train.Server.create_local_server()
    yield server.target
    tf.Session.reset(server.target)


@pytest.mark.usefixtures("variable_mode")
def test_the_chief_tells_the_workers_and_no_checkpoint_knows(target):
    now = []
    hook = chief_hook(now)
    chief = Task(target, hook, is_chief=True)
    worker = Task(target, FollowChiefHook(), is_chief=False)
    assert not chief.run()
    assert not worker.run()
    now.append("why")
    assert chief.run()
    assert worker.run()
    for task in (chief, worker):
        assert [variable.op.name for variable in task.saved] == ["global_step"]
    # The next training begins without that.
    now.clear()
    further = Task(target, chief_hook(now), is_chief=True)
    assert not further.run()
    assert not worker.run()


def test_a_worker_goes_on_while_the_signal_has_no_value(target):
    worker = Task(target, FollowChiefHook(), is_chief=True)
    assert not worker.run()


def test_the_signal_has_the_old_name_and_stands_beside_the_global_step():
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:1"):
            tf.train.create_global_step()
        FollowChiefHook().begin()
        (signal,) = tf.get_collection(stop_signal._COLLECTION)
        assert signal.op.name == "signal_early_stopping/STOP"
        assert signal.device == "/job:ps/task:1"


def test_the_signal_needs_a_global_step():
    with tf.Graph().as_default(), pytest.raises(RuntimeError) as error:
        FollowChiefHook().begin()
    assert str(error.value) == "early stopping in a cluster needs a global step in the graph"
