import runpy
from pathlib import Path

import pytest

MODEL = runpy.run_path(
    str(Path(__file__).parents[2] / "tools" / "bench" / "cluster_model.py"), run_name="model"
)
Machines, batches_per_sec, fitted, knee = (
    MODEL[name] for name in ("Machines", "batches_per_sec", "fitted", "knee")
)
ASYNC, SYNC, REDUCE = MODEL["ASYNC"], MODEL["SYNC"], MODEL["REDUCE"]
# 1 s of compute; all parameters take 0.1 s in each direction.
MACHINES = Machines(size_bytes=100e6, compute_secs=1.0, bandwidth=1e9)


@pytest.mark.parametrize(
    ("mode", "workers", "num_ps", "secs"),
    [
        (ASYNC, 1, 1, 1.2),
        (ASYNC, 4, 1, 1.2 / 4),
        (ASYNC, 64, 1, 0.1),  # The server sends the parameters 10 times a second.
        (ASYNC, 64, 4, 0.1 / 4),
        (SYNC, 1, 1, 1.2),
        (SYNC, 4, 4, 1.2 / 4),  # Each server has a quarter for each of four workers.
        (SYNC, 4, 1, (1 + 0.8) / 4),
        (REDUCE, 1, 1, 1.0),
        (REDUCE, 4, 1, (1 + 0.15) / 4),
    ],
)
def test_seconds_per_batch(mode, workers, num_ps, secs):
    assert 1 / batches_per_sec(MACHINES, mode, workers, num_ps) == pytest.approx(secs)


def test_beyond_the_knee_more_workers_add_nothing():
    limit = knee(MACHINES, 2)
    assert limit == pytest.approx(24)
    rates = [batches_per_sec(MACHINES, ASYNC, workers, 2) for workers in (12, 24, 48)]
    assert rates == pytest.approx([10, 20, 20])


def test_an_uneven_placement_moves_the_knee():
    uneven = Machines(100e6, 1.0, 1e9, imbalance=2.0)
    assert knee(uneven, 2) == pytest.approx(knee(MACHINES, 2) / 2)


def test_the_fit_finds_the_constants_of_its_own_model():
    points = [(size, 0.01, 0.01 + 2 * size / 2e9 + 0.003) for size in (20e6, 100e6)]
    bandwidth, overhead, left = fitted(points)
    assert (bandwidth, overhead) == pytest.approx((2e9, 0.003))
    assert left == pytest.approx([0, 0], abs=1e-12)
