import itertools

import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Steps
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import NonFiniteError
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.hooks.base import Hook, Phase, in_phase_order
from tf_frame.hooks.by_name.feed import FeedHook
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.input_position import InputPositionHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook
from tf_frame.hooks.stock.global_step_waiter import GlobalStepWaiterHook
from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook
from tf_frame.hooks.stock.nan_tensor import NanTensorHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.stock.summary_saver import SummarySaverHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import build_toy_graph


class Recorder(Hook):
    """Notes its calls in a list that several may share."""

    def __init__(self, phase=Phase.OBSERVE, calls=None, cadence=None):
        super().__init__(Cadence(every_steps=1) if cadence is None else cadence)
        self.phase = phase
        self.calls = [] if calls is None else calls

    def after_step(self, run_context, run_values, step):
        self.calls.append(self.phase)


class Methods(Recorder):
    """Notes the step of each call, by the name of the method."""

    def begin(self):
        self.calls.append("begin")

    def start(self, session, step):
        super().start(session, step)
        self.calls.append(("start", step))

    def before_step(self, run_context, step):
        self.calls.append(("before", step))

    def after_step(self, run_context, run_values, step):
        self.calls.append(("after", step, run_values.results))

    def end(self, session):
        self.calls.append("end")


def test_every_hook_has_the_phase_of_its_work():
    phases = {
        FeedHook: Phase.TRANSFORM,
        GlobalStepWaiterHook: Phase.TRANSFORM,
        InputPositionHook: Phase.TRANSFORM,
        NanGuardHook: Phase.CHECK,
        NanTensorHook: Phase.CHECK,
        SummaryHook: Phase.OBSERVE,
        SummarySaverHook: Phase.OBSERVE,
        CheckpointSaverHook: Phase.SAVE,
        EvaluateHook: Phase.EVALUATE,
        LoggingHook: Phase.LOG,
        LoggingTensorHook: Phase.LOG,
        StepCounterHook: Phase.LOG,
        StopAtStepHook: Phase.STOP,
        StopOnSignalHook: Phase.STOP,
    }
    assert {hook: hook.phase for hook in phases} == phases


def test_hooks_are_in_the_order_of_the_phases_and_then_in_the_order_given():
    names = ["TRANSFORM", "CHECK", "OBSERVE", "LOG", "SAVE", "EVALUATE", "STOP"]
    hooks = [Recorder(Phase[name]) for name in names]
    for given in itertools.permutations(hooks):
        assert in_phase_order(given) == hooks
    # Hooks of TensorFlow observe.
    first, second = tf.train.StopAtStepHook(num_steps=1), tf.train.SessionRunHook()
    check, save, log = (Recorder(phase) for phase in (Phase.CHECK, Phase.SAVE, Phase.LOG))
    same = [Recorder(Phase.LOG) for _ in range(5)]
    expected = [check, first, second, log, *same, save]
    assert in_phase_order([save, first, log, check, *same, second]) == expected


def test_the_session_calls_hooks_in_phase_order(build, train):
    calls = []
    train(build(), [Recorder(phase, calls) for phase in reversed(Phase)], to=1)
    assert calls == list(Phase)


def test_no_hook_runs_after_one_that_raises(build, train):
    class Raising(Hook):
        phase = Phase.CHECK

        def after_step(self, run_context, run_values, step):
            raise ValueError("rejected")

    calls = []
    recorders = [Recorder(phase, calls) for phase in (Phase.SAVE, Phase.TRANSFORM)]
    with pytest.raises(ValueError, match="rejected"):
        train(build(), [*recorders, Raising(Cadence(every_steps=1))], to=1)
    assert calls == [Phase.TRANSFORM]


@pytest.mark.usefixtures("variable_mode")
def test_a_hook_is_called_at_the_steps_that_it_wants(build, train):
    hook = Methods(cadence=Cadence(every_steps=3))
    train(build(), [hook], to=5)
    first, second = [("before", 1), ("after", 1, None)], [("before", 4), ("after", 4, None)]
    assert hook.calls == ["begin", ("start", 0), *first, *second, "end"]


def test_a_hook_that_wants_no_step_is_told_of_sessions_only(build, train):
    hook = Methods(cadence=Cadence())
    train(build(), [hook], to=5)
    assert hook.calls == ["begin", ("start", 0), "end"]


@pytest.mark.usefixtures("variable_mode")
def test_a_hook_gets_what_it_asked_for_and_what_it_fed(build, train):
    class Double(Methods):
        def before_step(self, run_context, step):
            return tf.train.SessionRunArgs({"doubled": self.doubled}, {self.fed: 2.0 * step})

    graph, hook = build(), Double(cadence=Cadence(every_steps=2))
    with graph.graph.as_default():
        hook.fed = tf.placeholder_with_default(0.0, [])
        hook.doubled = hook.fed * 2
    train(graph, [hook], to=3)
    assert hook.calls[2:-1] == [("after", 1, {"doubled": 4.0}), ("after", 3, {"doubled": 12.0})]


class Watcher(Recorder):
    """Notes what was not finite."""

    def __init__(self, watched, **options):
        super().__init__(cadence=Cadence(), **options)
        self.watched = watched

    def not_finite(self, run_context, value, step):
        self.calls.append((step, str(value)))
        if len(self.calls) == 2:
            run_context.request_stop()


@pytest.mark.usefixtures("variable_mode")
def test_a_watched_tensor_is_looked_at_in_every_step(build, train):
    graph = build(nan_at_step=3)
    hook, done = Watcher(graph.train_op), []
    train(graph, [hook], to=99, each=done.append)
    assert hook.calls == [(4, "nan"), (5, "nan")]
    assert len(done) == 5


def test_what_is_watched_in_an_early_phase_is_told_before_later_hooks_run(build, train):
    graph, calls = build(nan_at_step=1), []
    hooks = [Recorder(Phase.SAVE, calls), NanGuardHook(graph.train_op)]
    with pytest.raises(NonFiniteError, match="at global step 2"):
        train(graph, hooks, to=9)
    assert calls == [Phase.SAVE]


class Stopper(Hook):
    """Wants no step, and asks for a stop once a condition holds."""

    def __init__(self, condition):
        super().__init__()
        self.condition = condition

    def should_stop(self):
        return self.condition()


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_hook_is_asked_before_the_first_step_and_after_each_whether_to_stop(build, train, after):
    steps = Steps()
    assert train(build(), [steps, Stopper(lambda: len(steps.seen) >= after)], to=9) == after


def foreign_graph(*, has_step=True):
    """A graph that knows nothing of tf-frame; the global step is read anywhere in the run."""
    graph = tf.Graph()
    with graph.as_default():
        step = tf.train.create_global_step() if has_step else tf.get_variable("v", initializer=0)
        step.assign_add(1, name="train")
    return graph


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("has_step", [True, False])
def test_in_a_graph_of_somebody_elses_steps_are_told_as_they_are(has_step):
    hooks = [Steps(every_steps=n) for n in (1, 4)]
    with (
        foreign_graph(has_step=has_step).as_default(),
        tf.train.MonitoredSession(hooks=hooks) as session,
    ):
        for _ in range(40):
            session.run("train")
    assert [hook.seen for hook in hooks] == [list(range(1, 41)), list(range(1, 41, 4))]


def test_the_session_may_be_run_outside_of_its_graph():
    hook = Steps()
    with foreign_graph().as_default():
        session = tf.train.MonitoredSession(hooks=[hook])
    with tf.Graph().as_default():
        session.run("train")
    assert hook.seen == [1]
    session.close()


def test_a_run_that_only_accumulates_gradients_is_no_step(train):
    config = RunOptions(train_batch_size=8, learning_rate=0.05)
    transforms = [Accumulate(params=Accumulate.Params(steps=3))]
    hook = Steps(every_steps=2, first=False)
    train(build_toy_graph(config, transforms=transforms), [hook], to=5)
    assert hook.seen == [2, 4]


def test_in_the_graph_of_others_one_read_of_the_step_serves_all_hooks():
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step().assign_add(1)
        hooks = [Steps(), Steps(), Steps(every_steps=2)]
        with tf.train.MonitoredSession(hooks=hooks) as session, counted_runs() as count:
            for _ in range(3):
                session.run(step)
            assert count.runs == 2 * 3
    assert [hook.seen for hook in hooks] == [[1, 2, 3], [1, 2, 3], [1, 3]]
