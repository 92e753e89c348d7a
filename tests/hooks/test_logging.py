import logging

import pytest

from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.logging import LoggingHook


@pytest.fixture
def lines(caplog):
    """The lines of `tf_frame`'s log so far."""
    caplog.set_level(logging.INFO, logger="tf_frame")
    return lambda: [
        record.getMessage()
        for record in caplog.records
        if record.name == "tf_frame" and record.getMessage().startswith("step ")
    ]


def test_the_multiples_and_the_last_step_are_logged(build, train, lines):
    graph = build()
    train(graph, [LoggingHook({"rate": graph.learning_rate}, every_steps=3, last_step=8)], to=8)
    assert lines() == [f"step {step}: rate = 0.05" for step in (3, 6, 8)]


def test_a_last_step_that_is_a_multiple_is_logged_once(build, train, lines):
    graph = build()
    train(graph, [LoggingHook({"rate": graph.learning_rate}, every_steps=2, last_step=4)], to=4)
    assert lines() == [f"step {step}: rate = 0.05" for step in (2, 4)]


def test_without_a_last_step_only_multiples_are_logged(build, train, lines):
    graph = build()
    train(graph, [LoggingHook({"rate": graph.learning_rate}, every_steps=3)], to=5)
    assert lines() == ["step 3: rate = 0.05"]


def test_a_resumed_run_logs_the_same_steps_as_one_that_was_not_stopped(
    tmp_path, build, train, lines
):
    for last_step in (4, 8):
        graph = build()
        save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
        hook = LoggingHook({"rate": graph.learning_rate}, every_steps=3, last_step=8)
        train(graph, [save, hook], to=last_step)
    assert [line.split(":")[0] for line in lines()] == ["step 3", "step 6", "step 8"]


def test_every_tensor_is_logged_in_the_order_given(build, train, lines):
    graph = build()
    tensors = {"step": graph.step_after, "rate": graph.learning_rate}
    train(graph, [LoggingHook(tensors, every_steps=1)], to=2)
    assert lines() == ["step 1: step = 1, rate = 0.05", "step 2: step = 2, rate = 0.05"]


def test_the_loss_logged_is_that_of_the_step(build, train, lines):
    graph = build()
    with graph.graph.as_default():
        doubled = graph.train_op * 2
    hooks = [LoggingHook({"a": graph.train_op, "b": doubled}, every_steps=1)]
    train(graph, hooks, to=2)
    assert len(lines()) == 2
    for line in lines():
        first, second = (float(part.split(" = ")[1]) for part in line.split(": ")[1].split(", "))
        assert second == pytest.approx(2 * first, rel=1e-4)
        assert first > 0


def test_a_multiple_that_is_passed_over_counts_at_the_next_step():
    cadence, logged = LoggingHook({}, every_steps=20, last_step=50).cadence, []
    for step in [1, 19, 23, 39, 45, 47, 53, 59, 60]:
        if cadence.wants(step):
            logged.append(step)
            cadence.mark(step)
    assert logged == [23, 45, 53, 60]


@pytest.mark.parametrize("every_steps", [0, -1])
def test_there_is_no_line_every_zero_steps(every_steps):
    with pytest.raises(ValueError, match=f"every_steps is {every_steps}; it must be positive"):
        LoggingHook({}, every_steps=every_steps)
