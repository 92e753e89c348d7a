import functools
import math

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose, OnePass, StopAt
from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.graph.step_loop import build_step_loop, find_obstacle
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import ToyInput, ToyModel, build_toy_graph

Stop = functools.partial(StopAt, phase=Phase.STOP)


class Note(Hook):
    """Notes the steps that it wanted and what it fetched."""

    def __init__(self, fetches=None, *, watched=None, **cadence):
        super().__init__(Cadence(**cadence))
        self.fetches, self.watched = fetches, watched
        self.steps, self.values, self.bad = [], [], []

    def before_step(self, run_context, step):
        return None if self.fetches is None else tf.train.SessionRunArgs(self.fetches)

    def after_step(self, run_context, run_values, step):
        self.steps.append(step)
        self.values.append(run_values.results)

    def not_finite(self, run_context, value, step):
        self.bad.append((step, value))
        run_context.request_stop()


class Foreign(tf.train.SessionRunHook):
    """A hook of somebody else, which says no cadence."""

    runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("source", "steps"), [(ToyInput, 12), (OnePass, 64 // 8)])
@pytest.mark.parametrize("foreign", [True, False])
def test_steps_run_until_a_hook_asks_to_stop_or_the_input_ends(
    build, run_loop, source, steps, foreign
):
    count = Foreign()
    loop = run_loop(build(source=source), [Stop(12), *([count] if foreign else [])])
    assert loop.global_step == steps
    assert count.runs == (steps if foreign else 0)
    assert math.isfinite(loop.loss)


def test_the_loss_of_an_empty_input_is_none(build, run_loop):
    class Empty(OnePass):
        def dataset(self, mode, context):
            return super().dataset(mode, context).take(0)

    loop = run_loop(build(source=Empty), [Stop(12)])
    assert (loop.global_step, loop.loss) == (0, None)


def test_hooks_see_the_steps_that_they_want_and_the_values_of_those(build, run_loop):
    graph = build()
    every_third, third_fifth = Note(graph.global_step, every_steps=3), Note(at_steps=[3, 5])
    with graph.graph.as_default():
        after = Note(graph.step_after, at_steps=[1, 7, 12])
    run_loop(graph, [every_third, third_fifth, after, Stop(12)])
    assert every_third.steps == [1, 4, 7, 10]
    assert third_fifth.steps == [3, 5]
    assert after.values == [1, 7, 12]


def test_a_run_with_few_wanted_steps_makes_one_prepared_call_a_step(build, run_loop):
    graph = build()
    hooks = [Note(graph.learning_rate, every_steps=5), Note(watched=graph.train_op), Stop(20)]
    with counted_runs() as count:
        run_loop(graph, hooks)
    assert count.calls == 20
    with counted_runs() as none:
        run_loop(build(), [Stop(1)])
    # Beside the steps only what opening and closing the session takes, whatever their number.
    assert count.runs - none.runs == 2  # The two hooks more read the global step once each.


def test_both_ways_through_a_step_train_the_same(build, run_loop):
    losses = []
    for hooks in ([], [Foreign()], [Note(every_steps=2)]):
        graph = build()
        losses.append(run_loop(graph, [*hooks, Stop(9)]).loss)
    assert losses[0] == losses[1] == losses[2] > 0


def test_a_stop_holds_whatever_comes_after_it(build, run_loop):
    class StopBefore(StopAt):
        def should_stop(self):
            return self.stopped

        stopped = False

        def after_step(self, run_context, run_values, step):
            self.stopped = True

    lose = Lose(after=3, phase=Phase.STOP)  # In the same step as the request to stop.
    loop = run_loop(build(), [StopBefore(3, Phase.LOG), lose])
    assert lose.left == 0
    assert loop.global_step == 0  # The session that came after it ran no step.


def test_a_hook_may_stop_a_session_before_its_first_step(build, run_loop):
    class Done(Hook):
        def should_stop(self):
            return True

    loop = run_loop(build(), [Done()])
    assert (loop.global_step, loop.loss) == (0, None)


def test_a_hook_that_is_asked_ends_training_after_the_step(build, run_loop):
    note = Note(at_steps=[4])

    class After(Hook):
        def should_stop(self):
            return bool(note.steps)

    assert run_loop(build(), [After(), note]).global_step == 4


def test_seconds_that_are_over_make_the_next_step_a_wanted_one(build, run_loop, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("tf_frame.hooks.cadence.time.monotonic", lambda: now[0])
    monkeypatch.setattr("tf_frame.session.loop.monotonic", lambda: now[0])

    class Tick(Hook):
        """Lets a second pass between two steps."""

        def should_stop(self):
            now[0] += 1.0
            return False

    note = Note(every_secs=4.0, first=False)
    run_loop(build(), [note, Tick(), Stop(12)])
    first, second, third = note.steps
    assert (second - first, third - second) == (4, 4)
    assert first <= 4


@pytest.mark.parametrize("graph_of", ["counted", "observed", "in_one_call"])
def test_what_is_watched_is_seen_at_the_step_at_which_it_is_not_finite(run_loop, graph_of):
    model = ToyModel(params=ToyModel.Params(nan_at_step=6), info=None)
    graph = build_toy_graph(RunOptions(train_batch_size=8, learning_rate=0.05), model=model)
    note = Note(watched=graph.total_loss if graph_of == "observed" else graph.train_op)
    with graph.graph.as_default():
        many = build_step_loop(graph, steps=100, watched=[note.watched])
    options = {"step_loop": many} if graph_of == "in_one_call" else {}
    loop = run_loop(graph, [note, Stop(500)], **options)
    ((step, value),) = note.bad
    assert step == loop.global_step == 7
    assert math.isnan(value)
    assert math.isnan(loop.loss)


def test_a_lost_session_is_made_anew_with_new_prepared_calls(build, run_loop):
    class Lose(Hook):
        """Loses the session between two steps of the fast path."""

        calls = 0

        def should_stop(self):
            self.calls += 1
            if self.calls == 7:
                raise tf.errors.UnavailableError(None, None, "the server is gone")
            return False

    note = Note(every_steps=5)
    loop = run_loop(build(), [Lose(), note, Stop(10)])
    assert loop.global_step == 10
    # Without a checkpoint it begins again at step 0, and the cadence with it.
    assert note.steps == [1, 1, 6]


# Hooks want steps 1, 11, 21 and 25. Of the 9, 9 and 3 steps between them, the calls of twos leave
# a single step over in each gap; those of sevens need 2, 2 and 1 calls.
@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        pytest.param(2, 4 + (4 + 1) + (4 + 1) + (1 + 1), marks=pytest.mark.slow),
        (7, 4 + 2 + 2 + 1),
        (100, 4 + 3),
    ],
)
def test_many_steps_in_one_call_never_pass_a_wanted_one(build, run_loop, steps, calls):
    def train(step_loop):
        graph = build()
        note = Note([graph.learning_rate, graph.step_after], every_steps=10)
        with graph.graph.as_default():
            many = build_step_loop(graph, steps=steps) if step_loop else None
        with counted_runs() as count:
            loop = run_loop(graph, [note, Stop(25)], step_loop=many)
        return note.steps, [values[1] for values in note.values], loop.loss, count.calls

    single, many = train(False), train(True)
    assert single[:2] == many[:2] == ([1, 11, 21], [1, 11, 21])
    assert single[2] == many[2]
    assert (single[3], many[3]) == (25, calls)


def test_the_first_run_of_a_session_is_a_single_step_wanted_or_not(build, run_loop):
    graph = build()
    with graph.graph.as_default():
        many = build_step_loop(graph, steps=100)
    with counted_runs() as count:
        assert run_loop(graph, [Stop(50)], step_loop=many).global_step == 50
    assert count.calls == 3  # The first step, those to the 49th, and the one that the hook wants.


def test_steps_that_are_held_back_are_counted_as_the_graph_counts_them(run_loop):
    graph = build_toy_graph(
        RunOptions(train_batch_size=8, learning_rate=0.05),
        transforms=[Accumulate(params=Accumulate.Params(steps=3))],
    )
    assert not graph.run_is_step
    assert find_obstacle(graph).startswith("a run of the train op need not be a step")
    note = Note(graph.step_after, every_steps=2)
    with counted_runs() as count:
        assert run_loop(graph, [note, Stop(6)]).global_step == 6
    assert note.steps == note.values == [1, 3, 5]
    assert count.calls == 18


class OwnUpdate(ToyModel):
    """The toy model with a train op of its own, as model functions have; it may accumulate."""

    accumulates = 1

    def build(self, features, labels, mode):
        loss = super().build(features, labels, mode).loss
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        runs = tf.get_variable("runs", initializer=0, trainable=False, use_resource=True)
        with tf.control_dependencies([runs.assign_add(1, read_value=False)]):
            applies = tf.equal(runs.read_value() % self.accumulates, 0)
        pairs = optimizer.compute_gradients(loss)
        pairs = [(tf.where(applies, grad, tf.zeros_like(grad)), var) for grad, var in pairs]
        update = optimizer.apply_gradients(pairs)
        with tf.control_dependencies([update]):
            step = tf.train.get_global_step()
            train_op = tf.assign_add(step, tf.cast(applies, step.dtype))
        return ModelOutput(loss=loss, train_op=train_op)


class Accumulating(OwnUpdate):
    """One update in three runs."""

    accumulates = 3


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("model", [OwnUpdate, Accumulating])
def test_a_model_that_makes_its_own_update_takes_one_prepared_call_a_run(build, run_loop, model):
    graph = build(model)
    note, guard = Note(graph.step_after, every_steps=5), Note(watched=graph.train_op)
    with counted_runs() as count:
        loop = run_loop(graph, [note, guard, Stop(12)])
    assert note.steps == note.values == [1, 6, 11]
    assert loop.global_step == 12
    assert (count.calls, count.prepared) == (12 * model.accumulates, 1)
    with counted_runs() as none:
        run_loop(build(model), [Stop(1)])
    assert count.runs - none.runs == 2  # The two hooks more read the global step once each.


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("model", [ToyModel, OwnUpdate])
def test_a_watched_tensor_beside_the_loss_is_seen_in_the_same_call(build, run_loop, model):
    graph = build(model)
    with graph.graph.as_default():
        late = tf.where(graph.step_after < 5, 1.0, float("nan"))
    note, loss = Note(watched=late), Note(watched=graph.train_op)
    with counted_runs() as count:
        loop = run_loop(graph, [note, loss, Stop(500)])
    assert loop.global_step == 5
    assert [step for step, _ in note.bad] == [5]
    assert loss.bad == []
    assert (count.calls, count.prepared) == (5, 1)


def test_no_call_is_prepared_that_no_step_makes(build, run_loop):
    with counted_runs() as count:
        run_loop(build(), [Foreign(), Stop(3)])
    assert (count.calls, count.prepared) == (0, 0)
