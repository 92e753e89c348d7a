"""Measures how much longer a sweep takes than the same runs one after the other.

    python tools/bench/sweep.py [--trials 4] [--max_steps 400] [--turns 4] [--write]

Both train LeNet with the learning rates of a grid, at the same time, each bound to a core of its
own, and change cores between turns: so both have the speed that a shared machine has just then.
The runs of the sweep evaluate during training, and the sweep looks at each evaluation.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from figure_file import write_figures

_PROGRAM = [sys.executable, "-m", "tf_frame"]


def main() -> None:
    """Prints both times of each turn, and the median of the difference and of its share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--max_steps", type=int, default=400)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--write", action="store_true", help="write docs/figures/sweep.json")
    argv = parser.parse_args()
    rates = [str(0.001 * (number + 1)) for number in range(argv.trials)]
    run = ["run", "--plugin", "classification", "--max_steps", str(argv.max_steps)]
    run += ["--eval_every_n_steps", str(argv.max_steps // 5)]
    sweep, runs = [_sweep(rates, run)], [[*run, f"--learning_rate={rate}"] for rate in rates]
    more, shares, secs = [], [], []
    for turn in range(argv.turns):
        sweep_secs, runs_secs = _turn(sweep, runs, turn % 2)
        more.append(sweep_secs - runs_secs)
        shares.append(100 * more[-1] / runs_secs)
        secs.append(runs_secs / argv.trials)
        print(f"sweep {sweep_secs:.2f} s, runs {runs_secs:.2f} s: {shares[-1]:.1f} % more")
    share = f"{statistics.median(more):.2f} s, {statistics.median(shares):.1f} %"
    print(f"median: {share}")
    if argv.write:
        trial_secs = statistics.median(secs)
        what = f"a sweep of {argv.trials} trials of {trial_secs:.0f} s, more than the runs alone"
        write_figures({what: share}, code=["plugins/sweep/src"])


def _turn(sweep: list[list[str]], runs: list[list[str]], number: int) -> tuple[float, float]:
    cores = sorted(os.sched_getaffinity(0))[:2]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_secs, sweep, cores[number])
        second = pool.submit(_secs, runs, cores[1 - number])
        return first.result(), second.result()


def _sweep(rates: list[str], run: list[str]) -> list[str]:
    space = f"learning_rate={'|'.join(rates)}"
    options = ["--trials", str(len(rates)), "--metric", "accuracy", "--space", space]
    return ["sweep", *options, "--sampler", "grid", "--pruner", "none", "--", *run]


def _secs(commands: list[list[str]], core: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        for words in commands:
            bound = ["taskset", "--cpu-list", str(core), *_PROGRAM, *words]
            subprocess.run(bound, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
