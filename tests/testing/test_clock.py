import time

import pytest

from tf_frame.testing.clock import FakeClock


def test_time_is_what_the_test_says_and_sleeping_takes_none():
    real = time.time()
    with FakeClock(now=5.0) as clock:
        assert time.monotonic() == 5.0
        clock.now += 60
        time.sleep(1000)
        assert time.monotonic() == 1065.0
        assert time.time() >= real
    assert time.monotonic() != 1065.0


def test_only_the_functions_that_are_named_are_replaced():
    with FakeClock("time", "perf_counter") as clock:
        assert time.time() == time.perf_counter() == clock.now
        assert time.monotonic() != clock.now


def test_the_clock_is_right_again_after_an_error():
    real = time.monotonic
    with pytest.raises(ValueError), FakeClock():
        raise ValueError
    assert time.monotonic is real
