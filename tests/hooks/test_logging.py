import logging

import pytest

from recorded_steps import wanted
from slow_cases import slow_but
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


@pytest.mark.parametrize(
    ("every_steps", "last_step", "ends", "logged"),
    slow_but(
        (1, -1),
        [
            (3, 8, [8], [3, 6, 8]),
            (3, 8, [4, 8], [3, 6, 8]),  # A resumed run.
            (2, 4, [4], [2, 4]),
            (3, None, [5], [3]),
        ],
        several=True,
    ),
)
def test_the_multiples_and_the_last_step_are_logged(
    build, train, lines, every_steps, last_step, ends, logged
):
    for to in ends:
        graph = build()
        tensors = {"rate": graph.learning_rate}
        hook = LoggingHook(tensors, every_steps=every_steps, last_step=last_step)
        train(graph, [hook], to=to, save_every=100)
    assert lines() == [f"step {step}: rate = 0.05" for step in logged]


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
    cadence = LoggingHook({}, every_steps=20, last_step=50).cadence
    assert wanted(cadence, [1, 19, 23, 39, 45, 47, 53, 59, 60]) == [23, 45, 53, 60]


@pytest.mark.parametrize("every_steps", [0, -1])
def test_there_is_no_line_every_zero_steps(every_steps):
    with pytest.raises(ValueError, match=f"every_steps is {every_steps}; it must be positive"):
        LoggingHook({}, every_steps=every_steps)
