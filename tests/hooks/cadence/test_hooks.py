"""The hooks that go by a cadence, at the edges of sessions."""

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Jump, Lose, StopAt, Tick
from recorded_steps import record
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.base import Phase
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.stock.summary_saver import SummarySaverHook
from tf_frame.hooks.summary import SummaryHook
from tf_frame.testing.toy import build_toy_graph


def recorded(makers):
    """The hooks of functions by name, and the steps that each of them will have seen."""
    hooks = {name: make() for name, make in makers.items()}
    return list(hooks.values()), {name: record(hook) for name, hook in hooks.items()}


def every_steps(graph, folder, n):
    """Each hook by steps."""
    return {
        "LoggingTensorHook": lambda: LoggingTensorHook({"rate": graph.learning_rate}, n),
        "StepCounterHook": lambda: StepCounterHook(n, output_dir=folder),
        "SummarySaverHook": lambda: SummarySaverHook(
            n, output_dir=folder, summary_op=graph.summary_op
        ),
        "SummaryHook": lambda: SummaryHook(folder, graph.summary_op, every_steps=n),
        "LoggingHook": lambda: LoggingHook({"rate": graph.learning_rate}, every_steps=n),
    }


def every_secs(graph, folder, secs):
    """Each hook by seconds; `LoggingHook` has none."""
    return {
        "LoggingTensorHook": lambda: LoggingTensorHook(
            {"rate": graph.learning_rate}, every_n_secs=secs
        ),
        "StepCounterHook": lambda: StepCounterHook(None, secs, folder),
        "SummarySaverHook": lambda: SummarySaverHook(
            save_secs=secs, output_dir=folder, summary_op=graph.summary_op
        ),
        "SummaryHook": lambda: SummaryHook(folder, graph.summary_op, every_secs=secs),
    }


FROM_FIRST = ["LoggingTensorHook", "StepCounterHook", "SummarySaverHook", "SummaryHook"]
ALL = [*FROM_FIRST, "LoggingHook"]


def expected(*, counted, runs=None, multiples, first):
    """Expected steps of each hook.

    The stock names count from the first step of a session, `LoggingTensorHook`
    its runs; `LoggingHook` takes the multiples, `SummaryHook` also the first step.
    """
    runs = counted if runs is None else runs
    other = {"LoggingHook": multiples, "SummaryHook": first, "LoggingTensorHook": runs}
    return {name: other.get(name, counted) for name in ALL}


def test_a_hook_wants_the_first_step_every_nth_and_the_last_if_it_is_one(build, train, tmp_path):
    graph = build()
    hooks, seen = recorded(every_steps(graph, str(tmp_path), 3))
    train(graph, hooks, to=7)
    assert seen == expected(counted=[1, 4, 7], multiples=[3, 6], first=[1, 3, 6])


@pytest.mark.slow
def test_a_resumed_run_counts_from_its_own_first_step_and_at_its_end_does_nothing(
    build, train, tmp_path
):
    runs = []
    for last_step in (4, 9, 9):
        graph = build()
        hooks, seen = recorded(every_steps(graph, str(tmp_path), 3))
        train(graph, hooks, to=last_step, save_every=100)
        runs.append(seen)
    assert runs == [
        expected(counted=[1, 4], multiples=[3], first=[1, 3]),
        expected(counted=[5, 8], runs=[1, 4], multiples=[6, 9], first=[5, 6, 9]),
        expected(counted=[], multiples=[], first=[]),
    ]


def test_a_step_that_the_global_step_passes_over_counts_at_the_next(build, train, tmp_path):
    graph = build()
    hooks, seen = recorded(every_steps(graph, str(tmp_path), 4))
    train(graph, [*hooks, Jump(at=3, to=7)], to=14)
    # 4 and 5 were passed over in a step that the hooks had not asked for.
    assert seen == expected(counted=[1, 8, 12], runs=[1, 5, 9], multiples=[8, 12], first=[1, 8, 12])


def test_by_seconds_a_hook_wants_the_first_step_and_what_is_late_enough(
    build, train, tmp_path, clock
):
    graph = build()
    hooks, seen = recorded(every_secs(graph, str(tmp_path), 10))
    train(graph, [*hooks, Tick(clock, [9, 2, 5, 10, 1, 1], Phase.STOP)], to=6)
    assert seen == {name: [1, 3, 5] for name in FROM_FIRST}


def test_summaries_by_seconds_and_steps_come_by_whichever_is_first(build, train, tmp_path, clock):
    # The fourth step by seconds; then the second one.
    for durations, expected in (([1, 1, 10, 1, 1, 1, 1], [1, 3, 4, 6]), ([10, 1, 1, 1], [1, 2, 3])):
        graph = build()
        hook = SummaryHook(str(tmp_path), graph.summary_op, every_steps=3, every_secs=10)
        steps = record(hook)
        train(graph, [hook, Tick(clock, durations, Phase.STOP)], to=len(durations))
        assert steps == expected


def test_hooks_that_want_the_same_step_all_get_it(build, train, tmp_path):
    graph = build()
    hooks = [make() for make in every_steps(graph, str(tmp_path), 2).values()]
    seen = [record(hook) for hook in hooks]
    train(graph, hooks, to=5)
    assert seen == [[1, 3, 5]] * 3 + [[1, 2, 4], [2, 4]]


@pytest.mark.parametrize(
    ("stop_at", "names"),
    [(4, ["SummaryHook", "LoggingHook"]), (5, FROM_FIRST[:3])],
    ids=["multiples", "from first"],
)
def test_the_step_in_which_a_stop_is_requested_is_finished(build, train, tmp_path, stop_at, names):
    graph = build()
    makers = every_steps(graph, str(tmp_path), 4)
    hooks, seen = recorded({name: makers[name] for name in names})
    train(graph, [StopAt(stop_at), *hooks], to=100)
    steps = expected(counted=[1, 5], multiples=[4], first=[1, 4])
    assert seen == {name: steps[name] for name in names}


def test_a_session_that_is_made_anew_begins_anew(build, train, tmp_path):
    graph = build()
    hooks, seen = recorded(every_steps(graph, str(tmp_path), 5))
    train(graph, [*hooks, Lose(after=8, phase=Phase.STOP)], to=12, save_every=3)
    # Restored at step 6.
    assert seen == expected(
        counted=[1, 6, 7, 12], runs=[1, 6, 1, 6], multiples=[5, 10], first=[1, 5, 7, 10]
    )


@pytest.fixture(scope="module")
def graph():
    """A graph that is not run."""
    return build_toy_graph(RunOptions(train_batch_size=8))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [0, -1])
def test_no_hook_takes_a_number_of_steps_that_is_not_positive(name, n, graph, tmp_path):
    with pytest.raises(ValueError, match=f"every_(steps is {n}; it must be positive|n_iter={n})"):
        every_steps(graph, str(tmp_path), n)[name]()


@pytest.mark.parametrize("name", FROM_FIRST)
@pytest.mark.parametrize("secs", [0, -0.5])
def test_no_hook_takes_seconds_that_are_not_positive(name, secs, graph, tmp_path):
    with pytest.raises(ValueError, match=f"every_secs is {secs}; it must be positive"):
        every_secs(graph, str(tmp_path), secs)[name]()


def test_hooks_do_not_run_between_the_steps_that_they_want(build, train):
    graph, runs = build(), []
    with graph.graph.as_default():
        rate = tf.numpy_function(lambda: runs.append(1) or 1.0, [], tf.float64)
        hook = LoggingTensorHook({"rate": tf.reshape(rate, [])}, every_n_iter=4)
    train(graph, [hook], to=8)
    assert len(runs) == 2
