"""The loop where a session, the input or a step ends otherwise than in the usual way."""

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import OnePass
from tf_frame.graph.step_loop import build_step_loop
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.training_clock import traced_steps
from tf_frame.testing.session_runs import counted_runs


class Foreign(tf.train.SessionRunHook):
    """A hook of somebody else, which keeps the fast path off."""

    def after_run(self, run_context, run_values):
        pass


class Note(Hook):
    """Notes what happens to it."""

    def __init__(self, watched=None, phase=Phase.OBSERVE, **cadence):
        super().__init__(Cadence(**cadence))
        self.watched, self.phase = watched, phase
        self.steps, self.bad, self.ends = [], [], []

    def after_step(self, run_context, run_values, step):
        self.steps.append(step)

    def not_finite(self, run_context, value, step):
        self.bad.append(step)
        run_context.request_stop()

    def after_last_step(self, step):
        self.ends.append(("last step", step))

    def end(self, session):
        self.ends.append("end")


class Asked(Hook):
    """Calls a function between all steps."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def should_stop(self):
        return self.function()


def recorded(graph, steps):
    """A loop of steps that notes the global step before each call, and how many it is to run."""
    with graph.graph.as_default():
        many = build_step_loop(graph, steps=steps)

    class Recorded:
        calls = []

        def prepare(self, session):
            call = many.prepare(session)

            def recorded_call(count):
                self.calls.append((int(session.run(graph.global_step)), min(count, steps)))
                return call(count)

            return recorded_call

    return Recorded()


def test_hooks_are_told_of_the_last_step_before_the_session_ends(build, run_loop):
    note = Note(every_steps=100)
    run_loop(build(), [note, StopAtStepHook(last_step=5)])
    assert note.ends == [("last step", 5), "end"]
    note = Note(every_steps=100)
    run_loop(build(source=OnePass), [note])
    assert note.ends == [("last step", 8), "end"]


def test_the_input_may_end_in_a_call_of_many_steps(build, run_loop):
    graph, note = build(source=OnePass), Note(every_steps=1000)
    many = recorded(graph, 100)
    loop = run_loop(graph, [note], step_loop=many)
    assert many.calls == [(1, 100)]
    assert loop.global_step == 8
    assert not loop.stop_requested
    assert note.ends == [("last step", 8), "end"]


@pytest.mark.parametrize("effect", [tf.errors.OutOfRangeError, tf.errors.CancelledError])
def test_an_error_in_a_thread_of_the_input_is_raised_instead_of_its_effect(build, run_loop, effect):
    class Broken(tf.train.SessionRunHook):
        """Stands for a reader that failed and closed its queue."""

        def after_create_session(self, session, coord):
            self.coord = coord

        def after_run(self, run_context, run_values):
            try:
                raise OSError("the disk is gone")
            except OSError as error:
                self.coord.request_stop(error)
            raise effect(None, None, "the queue was closed")

    note = Note(every_steps=100)
    with pytest.raises(OSError, match="the disk is gone"):
        run_loop(build(), [note, Broken()])
    assert note.ends == []


@pytest.mark.parametrize("others", [[], [Foreign()]])
def test_a_stop_that_is_requested_of_the_coordinator_ends_training_after_the_step(
    build, run_loop, others
):
    class Stopper(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.coord = coord

    stopper, asked = Stopper(), []

    def ask():
        asked.append(1)
        if len(asked) == 4:
            stopper.coord.request_stop()
        return False

    loop = run_loop(build(), [stopper, Asked(ask), StopAtStepHook(last_step=50), *others])
    # Asked when the session has been made, before the first step, and after each.
    assert loop.global_step == 2
    assert not loop.stop_requested


def test_every_hook_is_asked_between_steps_but_those_that_say_no(build, run_loop):
    asked = []

    class Never(Asked):
        asked_between_steps = False

    first = Asked(lambda: asked.append(1))
    second = Asked(lambda: len(asked) == 4)
    # Asked when the session has been made, before the first step, and after each.
    assert run_loop(build(), [first, second, StopAtStepHook(last_step=50)]).global_step == 2
    never = Never(lambda: bool(note.steps))
    note = Note(at_steps=[2])
    assert run_loop(build(), [never, note, StopAtStepHook(last_step=5)]).global_step == 5


def test_only_what_is_not_finite_is_told_and_to_those_who_watch_it(build, run_loop):
    graph = build()
    with graph.graph.as_default():
        late = tf.where(graph.global_step >= 5, float("nan"), 1.0)
    other, loss = Note(watched=late), Note(watched=graph.train_op)
    loop = run_loop(graph, [other, loss, StopAtStepHook(last_step=50)])
    ((step,), bad) = other.bad, loss.bad
    assert step == loop.global_step
    assert step in (5, 6)  # Whether the global step is read before or after it moves is open.
    assert bad == []
    assert loop.stop_requested


def test_hooks_stay_in_the_order_given_where_that_is_wanted(build, run_loop):
    order = []

    class Ordered(Note):
        def after_step(self, run_context, run_values, step):
            order.append(self.phase)

    hooks = [Ordered(phase=phase, at_steps=[2]) for phase in (Phase.LOG, Phase.CHECK)]
    stop = StopAtStepHook(last_step=3)
    run_loop(build(), [*hooks, stop], sort=False)
    assert order == [Phase.LOG, Phase.CHECK]
    run_loop(build(), [*hooks, stop])
    assert order[2:] == [Phase.CHECK, Phase.LOG]


def test_a_call_of_many_steps_is_never_the_first_run_of_a_session(build, run_loop):
    lost = []

    def lose_once():
        if many.calls and not lost:
            lost.append(1)
            raise tf.errors.AbortedError(None, None, "lost")
        return False

    graph = build()
    many = recorded(graph, 10)
    note = Note(every_steps=20, first=False)
    loop = run_loop(graph, [note, Asked(lose_once), StopAtStepHook(last_step=25)], step_loop=many)
    assert loop.global_step == 25
    # After the lost session, which began anew at step 0, once more.
    assert many.calls[:2] == [(1, 10), (1, 10)]
    assert [start for start, _ in many.calls].count(0) == 0


def test_scalars_that_hooks_often_want_need_no_call_of_their_own(build, run_loop):
    class Fetch(Note):
        def __init__(self, fetches, at):
            super().__init__(at_steps=[at])
            self.fetches = fetches

        def before_step(self, run_context, step):
            return tf.train.SessionRunArgs(self.fetches)

    graph = build()
    assert graph.learning_rate in graph.scalars
    hooks = [Fetch(graph.learning_rate, 2), Fetch([], 4), StopAtStepHook(last_step=6)]
    with counted_runs() as count:
        run_loop(graph, hooks)
    assert (count.prepared, count.calls) == (1, 6)


def test_a_step_that_is_traced_is_marked_as_such(build, run_loop):
    class Traces(Note):
        def before_step(self, run_context, step):
            options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
            return tf.train.SessionRunArgs(None, options=options)

    before = traced_steps()
    run_loop(build(), [Traces(at_steps=[2, 4]), StopAtStepHook(last_step=6)])
    assert traced_steps() - before == 2


@pytest.mark.slow
def test_a_checkpoint_by_steps_costs_runs_where_it_is_saved_and_nowhere_else(
    build, run_loop, tmp_path
):
    def runs_of(*, to, every_steps):
        graph = build()
        with graph.graph.as_default():
            folder = str(tmp_path / f"{to}_{every_steps}")
            save = CheckpointHook(folder, graph.scaffold, every_steps=every_steps)
        tf.io.gfile.makedirs(folder)
        with counted_runs() as count:
            run_loop(graph, [save, StopAtStepHook(last_step=to)])
        return count.runs

    few, more, saved_once_more = (
        runs_of(to=to, every_steps=every) for to, every in [(12, 5), (14, 5), (14, 4)]
    )
    assert few == more  # Steps between saves make no run beside their prepared call.
    assert saved_once_more > more
