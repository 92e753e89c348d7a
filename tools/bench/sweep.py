"""Measures how much longer a sweep takes than the same runs one after the other.

    python tools/bench/sweep.py [--trials 6] [--max_steps 600] [--turns 3] [--write]

Both train LeNet with the learning rates of a grid, in turns. The runs of the sweep evaluate during
training, and the sweep looks at each evaluation. The table has medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time

from figure_file import write_figures

_PROGRAM = [sys.executable, "-m", "tf_frame"]


def main() -> None:
    """Prints the medians, their difference and its share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--max_steps", type=int, default=600)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/figures/sweep.json")
    argv = parser.parse_args()
    rates = [str(0.001 * (number + 1)) for number in range(argv.trials)]
    run = ["run", "--plugin", "classification", "--max_steps", str(argv.max_steps)]
    run += ["--eval_every_n_steps", str(argv.max_steps // 5)]
    secs: dict[str, list[float]] = {"sweep": [], "runs": []}
    for _ in range(argv.turns):
        secs["sweep"].append(_secs(_sweep(rates, run)))
        secs["runs"].append(sum(_secs([*run, f"--learning_rate={rate}"]) for rate in rates))
    medians = {name: statistics.median(values) for name, values in secs.items()}
    for name, value in medians.items():
        print(f"{name:<12}{value:.2f} s")
    more = medians["sweep"] - medians["runs"]
    share = f"{more:.2f} s, {100 * more / medians['runs']:.1f} %"
    print(f"{'difference':<12}{share}")
    if argv.write:
        secs = medians["runs"] / argv.trials
        what = f"a sweep of {argv.trials} trials of {secs:.0f} s, beside the runs"
        write_figures({what: share}, code=["plugins/sweep/src"])


def _sweep(rates: list[str], run: list[str]) -> list[str]:
    space = f"learning_rate={'|'.join(rates)}"
    options = ["--trials", str(len(rates)), "--metric", "accuracy", "--space", space]
    return ["sweep", *options, "--sampler", "grid", "--pruner", "none", "--", *run]


def _secs(words: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [*_PROGRAM, *words]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
