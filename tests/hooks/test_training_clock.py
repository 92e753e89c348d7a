import pytest

from tf_frame.hooks.training_clock import mark_traced, pause, traced_steps, training_clock


def test_the_clock_stands_still_in_a_pause(clock):
    start = training_clock()
    clock.now += 2
    with pause():
        clock.now += 100
        assert training_clock() == pytest.approx(start + 2)
    assert training_clock() == pytest.approx(start + 2)
    clock.now += 3
    assert training_clock() == pytest.approx(start + 5)


def test_a_pause_within_a_pause_counts_once(clock):
    start = training_clock()
    with pause():
        clock.now += 10
        with pause():
            clock.now += 10
        clock.now += 10
        assert training_clock() == pytest.approx(start)
    clock.now += 1
    assert training_clock() == pytest.approx(start + 1)


def test_a_pause_ends_with_an_error(clock):
    start = training_clock()
    with pytest.raises(RuntimeError, match="failed"), pause():
        clock.now += 10
        raise RuntimeError("failed")
    clock.now += 1
    assert training_clock() == pytest.approx(start + 1)


def test_traced_steps_are_counted():
    before = traced_steps()
    mark_traced()
    mark_traced()
    assert traced_steps() == before + 2
