import itertools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.profiling.process_profiler import start_profiler, stop_profiler
from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.hooked_step import StepFetches, merge_options, run_hooked_step
from tf_frame.session.prepared import PreparedCalls
from tf_frame.session.schedule import Schedule
from tf_frame.testing.session_runs import counted_runs

FULL = tf.RunOptions.SOFTWARE_TRACE


class Ours(Hook):
    def __init__(self, args=None, *, phase=Phase.OBSERVE, watched=None, **cadence):
        super().__init__(Cadence(**cadence or {"every_steps": 1}))
        self.args, self.phase, self.watched, self.calls = args, phase, watched, []

    def before_step(self, run_context, step):
        self.context, self.announced = run_context, step
        return self.args

    def after_step(self, run_context, run_values, step):
        assert run_context is self.context
        self.calls.append((step, run_values.results))
        self.values = run_values

    def not_finite(self, run_context, value, step):
        self.calls.append((step, "not finite"))


class Foreign(tf.train.SessionRunHook):
    def __init__(self, args=None, stop=False):
        self.args, self.stop = args, stop

    def before_run(self, run_context):
        self.context = run_context
        return self.args

    def after_run(self, run_context, run_values):
        assert run_context is self.context
        self.values = run_values
        if self.stop:
            run_context.request_stop()


class Steps:
    """Steps of `counter += fed`."""

    scalars = ()

    def __init__(self):
        self.fed = tf.placeholder_with_default(1.0, [], name="fed")
        counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
        self.global_step = tf.train.create_global_step()
        updates = [counter.assign_add(self.fed), self.global_step.assign_add(1)]
        with tf.control_dependencies(updates):
            self.train_op = tf.identity(counter.read_value(), name="train_op")
            self.step_after = tf.identity(self.global_step.read_value())
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())
        self.prepared = PreparedCalls(self.session)
        self.times = StepTimes()
        self.last = 0

    def run(self, *hooks):
        schedule = Schedule(hooks)
        fetches = StepFetches(self, schedule.watching)
        values, stop = run_hooked_step(
            self.prepared, schedule, fetches, last=self.last, times=self.times
        )
        loss, self.last = values
        return loss, self.last, stop


@pytest.fixture
def steps():
    with tf.Graph().as_default():
        made = Steps()
        yield made
        made.session.close()


def args(fetches=None, feed=None, **options):
    return tf.train.SessionRunArgs(fetches, feed, tf.RunOptions(**options) if options else None)


@pytest.mark.parametrize("kind", [Ours, Foreign])
def test_a_hook_gets_what_it_fetched_in_the_shape_it_asked_in(steps, kind):
    hook = kind(args({"a": steps.train_op, "b": [steps.fed, "fed:0"]}))
    assert steps.run(hook) == (1.0, 1, False)  # Loss, global step, whether to stop.
    assert kind is Foreign or hook.announced == hook.calls[0][0] == 1
    assert hook.values.results == {"a": 1.0, "b": [1.0, 1.0]}


@pytest.mark.parametrize("kind", [Ours, Foreign])
def test_a_hook_that_asks_for_nothing_gets_none(steps, kind):
    hook = kind()
    steps.run(hook)
    assert hook.values.results is None
    assert hook.context.session is steps.session
    assert hook.context.original_args.fetches is steps.train_op


def test_feeds_of_hooks_are_merged(steps):
    assert steps.run(Ours(args(feed={steps.fed: 5.0})))[0] == 5.0
    assert steps.run(Foreign(args(feed={steps.fed: 2.0})), Ours())[0] == 7.0


def test_two_hooks_may_not_feed_the_same_tensor(steps):
    hooks = [Ours(args(feed={steps.fed: 5.0})), Foreign(args(feed={steps.fed: 5.0}))]
    text = r"Same tensor is fed by two hooks. Conflict\(s\): \[.*leave one out"
    with pytest.raises(RuntimeError, match=text) as error:
        steps.run(*hooks)
    assert isinstance(error.value, ConfigError)


def test_a_trace_that_one_hook_asks_for_is_given_to_all(steps):
    tracer, plain, foreign = Ours(args(trace_level=FULL)), Ours(), Foreign()
    steps.run(tracer, plain, foreign)
    for hook in (tracer, plain, foreign):
        assert hook.values.options.trace_level == FULL
        assert hook.values.run_metadata.step_stats.dev_stats
    steps.run(plain)
    assert plain.values.options.trace_level == 0
    assert not plain.values.run_metadata.step_stats.dev_stats


def test_a_full_trace_beside_a_capture_is_lowered_which_would_fail_the_step(steps, tmp_path):
    tracer = Ours(args(trace_level=FULL))
    profiler = start_profiler(str(tmp_path), "step_1")
    steps.run(tracer)
    stop_profiler(profiler)
    assert tracer.values.options.trace_level == tf.RunOptions.SOFTWARE_TRACE
    assert tracer.values.run_metadata.step_stats.dev_stats
    steps.run(tracer)
    assert tracer.values.options.trace_level == FULL


def test_run_options_merge_to_the_larger_and_to_either():
    options = tf.RunOptions(trace_level=FULL, timeout_in_ms=10, output_partition_graphs=True)
    more = tf.RunOptions(timeout_in_ms=20, report_tensor_allocations_upon_oom=True)
    more.debug_options.debug_tensor_watch_opts.add(node_name="a")
    more.debug_options.reset_disk_byte_usage = True
    merge_options(options, more)
    assert (options.trace_level, options.timeout_in_ms) == (FULL, 20)
    assert options.output_partition_graphs
    assert options.report_tensor_allocations_upon_oom
    assert options.debug_options.reset_disk_byte_usage
    assert [each.node_name for each in options.debug_options.debug_tensor_watch_opts] == ["a"]


@pytest.mark.parametrize("kind", [Ours, Foreign])
def test_a_stop_that_a_hook_requests_is_told(steps, kind):
    class Stops(Ours):
        def after_step(self, run_context, run_values, step):
            run_context.request_stop()

    hook = Stops() if kind is Ours else Foreign(stop=True)
    assert steps.run(hook)[2]


def test_after_the_step_hooks_are_called_in_phase_order(steps):
    calls = []

    class Note(Ours):
        def after_step(self, run_context, run_values, step):
            calls.append(self.phase)

    steps.run(Note(phase=Phase.LOG), Note(phase=Phase.CHECK), Note(phase=Phase.SAVE))
    assert calls == [Phase.CHECK, Phase.LOG, Phase.SAVE]


def test_a_hook_that_raises_in_the_check_phase_keeps_later_hooks_from_running(steps):
    class Rejects(Ours):
        def after_step(self, run_context, run_values, step):
            raise ArithmeticError("rejected")

    save = Ours(phase=Phase.SAVE)
    with pytest.raises(ArithmeticError, match="rejected"):
        steps.run(save, Rejects(phase=Phase.CHECK))
    assert save.calls == []


def test_what_a_hook_watches_is_looked_at_in_its_phase(steps):
    watching = Ours(phase=Phase.CHECK, watched=steps.train_op, at_steps=[7])
    save = Ours(phase=Phase.SAVE)
    steps.run(save, watching)
    assert watching.calls == []
    steps.run(save, watching, Ours(args(feed={steps.fed: float("nan")})))
    assert watching.calls == [(2, "not finite")]


def test_a_hook_whose_step_did_not_come_is_not_called(steps):
    hook = Ours(at_steps=[6])
    steps.last = 5  # Where gradients are only accumulated, the global step stays behind.
    steps.run(hook)
    assert hook.announced == 6
    assert hook.calls == []


def test_calls_are_prepared_once_for_the_same_fetches(steps):
    hook = Ours()
    with counted_runs() as count:
        for _ in range(3):
            hook.args = args([steps.fed])  # A new list of the same tensors.
            steps.run(hook)
        assert count.prepared == 1
        hook.args = args({"a": [steps.fed, steps.train_op], "b": "fed:0"})
        steps.run(hook)
        assert hook.values.results == {"a": [1.0, 4.0], "b": 1.0}
        assert count.prepared == 1  # In another form, but nothing new.
        hook.args = args([steps.fed, steps.fed + 1])
        steps.run(hook)
        assert count.prepared == 2


@pytest.mark.slow
def test_a_hook_with_ever_new_fetches_does_not_fill_memory(steps):
    hook = Ours()
    for number in range(100):
        hook.args = args({"new": tf.constant(number)})
        steps.run(hook)
    assert len(steps.prepared._calls) <= 64
    assert hook.values.results == {"new": 99}


def test_hooks_and_the_session_call_are_timed_without_gaps(steps):
    ended = []
    steps.times.spans, steps.times.on_step = [], lambda *end: ended.append(end)
    first, second = Ours(), Ours()
    steps.run(first, second)
    spans = steps.times.spans
    assert [span[0] for span in spans] == [first, second, None, first, second]
    assert all(one[2] == other[1] for one, other in itertools.pairwise(spans))
    assert ended == [(1, spans[-1][2])]
    assert [time.calls for time in steps.times.hooks.values()] == [1, 1]
