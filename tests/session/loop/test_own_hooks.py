"""The hooks of tf-frame at the edges of their cadences, in tf-frame's own loop."""

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Jump, StopAt
from recorded_steps import record
from slow_cases import slow_but
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.summary import SummaryHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.testing.toy import ToyModel

# How the steps of a hook are counted.
MULTIPLES = ("EvaluateHook", "LoggingHook")
FIRST_AND_MULTIPLES = ("ProgressHook", "SummaryHook")
FROM_FIRST = ("LoggingTensorHook", "StepCounterHook", "TimelineHook")
AFTER_START = ("CheckpointHook",)
GROUPS = (MULTIPLES, FIRST_AND_MULTIPLES, FROM_FIRST, AFTER_START)
ALL = [name for names in GROUPS for name in names]

# Hooks whose steps are counted alike are in one run: none wants a step that another does not.
every_group = pytest.mark.parametrize("names", GROUPS, ids="-".join)
one_group = pytest.mark.parametrize("names", slow_but(-1, GROUPS), ids="-".join)


def make(name, graph, folder, n):
    """A hook that wants every `n` steps."""
    return {
        "EvaluateHook": lambda: EvaluateHook(lambda step: {}, every_steps=n, last_step=1000),
        "LoggingHook": lambda: LoggingHook({"rate": graph.learning_rate}, every_steps=n),
        "ProgressHook": lambda: ProgressHook(
            graph.train_op, last_step=1000, examples_per_step=8, every_steps=n
        ),
        "SummaryHook": lambda: SummaryHook(folder, graph.summary_op, every_steps=n),
        "LoggingTensorHook": lambda: LoggingTensorHook({"rate": graph.learning_rate}, n),
        "StepCounterHook": lambda: StepCounterHook(n, output_dir=folder),
        "TimelineHook": lambda: TimelineHook(folder, every_steps=n),
        "CheckpointHook": lambda: CheckpointHook(folder, graph.scaffold, every_steps=n),
    }[name]()


def expected(names, *, multiples, first_and_multiples, from_first, after_start):
    """Expected steps of each of the hooks, by the way in which their steps are counted."""
    steps = {MULTIPLES: multiples, FIRST_AND_MULTIPLES: first_and_multiples}
    steps.update({FROM_FIRST: from_first, AFTER_START: after_start})
    return {name: steps[group] for group in GROUPS for name in group if name in names}


@pytest.fixture
def folder(tmp_path):
    yield str(tmp_path)
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def go(build, run_loop, folder):
    """Runs hooks, every `n` steps, to a step; returns the steps that each of them saw."""

    def go(names, n, *, to, also=()):
        graph = build()
        with graph.graph.as_default():
            hooks = [make(name, graph, folder, n) for name in names]
            save = CheckpointHook(folder, graph.scaffold, every_steps=100)
        steps = {name: record(hook) for name, hook in zip(names, hooks, strict=True)}
        saves = [] if names == AFTER_START else [save]
        loop = run_loop(graph, [*hooks, StopAtStepHook(last_step=to), *saves, *also])
        go.loop = loop
        return steps

    return go


@every_group
def test_from_the_first_step_to_the_last(names, go):
    assert go(names, 3, to=7) == expected(
        names,
        multiples=[3, 6],
        first_and_multiples=[1, 3, 6],
        from_first=[1, 4, 7],
        after_start=[3, 6],
    )
    assert go.loop.global_step == 7


@pytest.mark.slow
@one_group
def test_in_a_resumed_run_and_in_one_that_has_nothing_left_to_do(names, go):
    go(names, 3, to=4)
    assert go(names, 3, to=9) == expected(
        names, multiples=[6, 9], first_and_multiples=[5, 6, 9], from_first=[5, 8], after_start=[7]
    )
    assert go.loop.global_step == 9
    assert go(names, 3, to=9) == {name: [] for name in names}
    assert (go.loop.global_step, go.loop.loss) == (9, None)


@one_group
def test_a_step_that_is_passed_over_counts_at_the_next(names, go):
    assert go(names, 4, to=12, also=[Jump(at=3, to=6)]) == expected(
        names,
        multiples=[7, 8, 12],
        first_and_multiples=[1, 7, 8, 12],
        from_first=[1, 7, 11],
        after_start=[7, 11],
    )


@one_group
def test_the_step_in_which_another_hook_requests_a_stop_is_finished(names, go):
    stop_at = 5 if names == FROM_FIRST else 4
    seen = go(names, 4, to=100, also=[StopAt(stop_at)])
    assert {name: steps[-1] for name, steps in seen.items()} == dict.fromkeys(names, stop_at)
    assert go.loop.stop_requested
    assert go.loop.global_step == stop_at


def test_hooks_that_want_the_same_step_share_its_one_run(build, run_loop, folder):
    ran = []

    class Counted(ToyModel):
        def build(self, features, labels, mode):
            zero = tf.numpy_function(lambda: ran.append(1) or 0.0, [], tf.float64)
            features += tf.cast(tf.reshape(zero, []), tf.float32)
            return super().build(features, labels, mode)

    graph = build(Counted)
    with graph.graph.as_default():
        hooks = [make(name, graph, folder, 2) for name in ALL]
    seen = {name: record(hook) for name, hook in zip(ALL, hooks, strict=True)}
    run_loop(graph, [*hooks, StopAtStepHook(last_step=5)])
    assert len(ran) == 5
    assert seen == expected(
        ALL,
        multiples=[2, 4],
        first_and_multiples=[1, 2, 4],
        from_first=[1, 3, 5],
        after_start=[2, 4],
    )


@pytest.fixture
def timed(build, monkeypatch):
    """Builds a graph whose steps take the seconds given."""

    def timed(durations):
        now, left = [0.0], iter(durations)
        monkeypatch.setattr("tf_frame.hooks.cadence.time.monotonic", lambda: now[0])
        monkeypatch.setattr("tf_frame.session.loop.monotonic", lambda: now[0])

        def tick():
            now[0] += next(left)
            return 0.0

        class Timed(ToyModel):
            def build(self, features, labels, mode):
                zero = tf.numpy_function(tick, [], tf.float64)
                features += tf.cast(tf.reshape(zero, []), tf.float32)
                return super().build(features, labels, mode)

        return build(Timed)

    return timed


def test_summaries_by_steps_and_seconds_come_by_whichever_is_first(timed, run_loop, folder):
    graph = timed([1, 1, 1, 10, 1, 1, 1])
    hook = SummaryHook(folder, graph.summary_op, every_steps=3, every_secs=10)
    steps = record(hook)
    run_loop(graph, [hook, StopAtStepHook(last_step=7)])
    assert steps == [1, 3, 5, 6]  # The fifth by seconds.


def test_checkpoints_by_steps_and_seconds_come_by_whichever_is_first(timed, run_loop, folder):
    graph = timed([1, 1, 10, *[1] * 6])
    with graph.graph.as_default():
        hook = CheckpointHook(folder, graph.scaffold, every_steps=5, every_secs=10)
    steps = record(hook)
    run_loop(graph, [hook, StopAtStepHook(last_step=9)])
    assert steps == [4, 9]  # The fourth by seconds, from which the steps count.
