"""Durations of steps and hooks: quantiles, the histogram, and a session's first step."""

import numpy as np
import pytest

from tf_frame.profiling.step_times import StepTimes, histogram, quantiles


def counted(durations):
    times, now = StepTimes(), 5.0
    times.step(now)
    for secs in durations:
        now += secs
        times.step(now)
    return times


def test_quantiles_and_histogram():
    durations = np.random.default_rng(1).lognormal(-4, 1, 2000)
    found = counted(durations).table()
    assert found["steps"] == 2000
    for name, share in (("p50_secs", 0.5), ("p90_secs", 0.9), ("p99_secs", 0.99)):
        assert found[name] == pytest.approx(np.quantile(durations, share), rel=0.03)
    assert quantiles([0, 0]) == {"steps": 0}
    assert StepTimes().table() == {"steps": 0, "histogram": {}, "hooks": {}}
    (limit,) = histogram(counted([0.02]).counts)
    assert 20 <= float(limit) <= 20 * 1.051


def test_which_steps_are_counted():
    times = counted([0.1])
    times.begin(900.0)
    times.step(1000.0)
    times.step(1000.1)
    assert times.table()["steps"] == 2
    assert list(times.table()["histogram"].values()) == [2]
    assert times.first_secs == times.table()["first_secs"] == 100.0
    times.begin(2000.0)
    times.step(2000.5)
    assert times.first_secs == 100.0  # Of the first session.
    times = StepTimes()
    times.step(0.0)
    times.step(1.0, 100)
    assert times.table()["steps"] == 100
    assert times.table()["p99_secs"] == pytest.approx(0.01, rel=0.03)
    times = counted([0.1])
    times.step(5.2, -7)
    times.step(5.3)
    assert times.table()["steps"] == 2
    found = counted([1e-9, 1e9]).table()
    assert found["steps"] == 2 and found["p50_secs"] < 2e-6


def test_hooks_are_timed_and_recorded():
    class Slow:
        pass

    hook, times = Slow(), StepTimes()
    assert times.hook(hook, 1.0, 1.5) == 1.5
    times.hook(hook, 3.0, 4.0, ends=True)
    assert times.table()["hooks"] == {"Slow": {"calls": 1, "secs": 1.5}}
    times.spans = []
    times.hook(hook, 5.0, 6.0)
    times.session_call(6.0, 8.0)
    assert times.spans == [(hook, 5.0, 6.0), (None, 6.0, 8.0)]
