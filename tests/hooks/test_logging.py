import logging

import pytest

from tf_frame.hooks.logging import LoggingHook


@pytest.fixture
def lines(caplog):
    """The lines of `tf_frame`'s log so far."""
    caplog.set_level(logging.INFO, logger="tf_frame")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "tf_frame"]


@pytest.mark.usefixtures("variable_mode")
def test_the_first_step_and_every_nth_from_there_are_logged(build, train, lines):
    graph = build()
    train(graph, [LoggingHook({"rate": graph.learning_rate}, every_steps=3)], to=8)
    assert lines() == [f"step {step}: rate = 0.05" for step in (1, 4, 7)]


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
    for line in lines():
        first, second = (float(part.split(" = ")[1]) for part in line.split(": ")[1].split(", "))
        assert second == pytest.approx(2 * first, rel=1e-4)
        assert first > 0
