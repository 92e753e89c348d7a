"""Measures `tf-frame run --plugin deeplab` beside the same training in Keras.

    python tools/bench/deeplab.py [--seeds 1 2 3 4 5] [--target 0.88] [--eval_every 25]
        [--xla] [--write]

Each seed trains the nuclei sample with both, in turns, each in a process of its own: the same
network, recipe and data pipeline (`deeplab_keras.py`). Measured are the seconds from the start of
the process to the first evaluation with the target mean IoU, evaluations and checkpoints included,
and the median steps/s. Keras trains without XLA; `--xla` adds a row with it.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from figure_file import write_table

_EVALUATION = re.compile(r"evaluation at step (\d+)\s+mean_iou (\S+)")
_RATE = re.compile(r"^(\S+) steps/s$")
_KERAS = [sys.executable, str(Path(__file__).with_name("deeplab_keras.py"))]
WAYS = ("tf-frame", "Keras", "Keras, XLA")


@dataclasses.dataclass
class Result:
    """A training.

    Attributes:
      target_secs: seconds from the start of the process to the target; infinite: not reached.
      target_step: the step at that evaluation.
      steps_per_sec: median.
      mean_iou: that of the last evaluation.
      total_secs: seconds to the end of the process.
    """

    target_secs: float = math.inf
    target_step: float = math.nan
    steps_per_sec: float = math.nan
    mean_iou: float = math.nan
    total_secs: float = math.nan


def command(way: str, seed: int, folder: str, argv: argparse.Namespace) -> list[str]:
    """Returns the command of a training."""
    if way == "tf-frame":
        words = [sys.executable, "-m", "tf_frame", "run", "--plugin", "deeplab"]
        words += ["--model_dir", folder, "--random_seed", str(seed)]
        return [
            *(*words, "--max_steps", str(argv.steps), "--noevaluate"),
            *("--eval_every_n_steps", str(argv.eval_every)),
        ]
    words = [*_KERAS, "--seed", str(seed), "--steps", str(argv.steps)]
    words += ["--eval_every", str(argv.eval_every)]
    return [*words, "--xla"] if way.endswith("XLA") else words


def train(way: str, seed: int, argv: argparse.Namespace) -> Result:
    """Trains in a process of its own."""
    result = Result()
    with tempfile.TemporaryDirectory() as root, open(os.path.join(root, "log"), "w") as log:
        folder = os.path.join(root, "run")
        begin = time.monotonic()
        process = subprocess.Popen(
            command(way, seed, folder, argv),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        for line in process.stdout:
            note(result, line, time.monotonic() - begin, argv.target)
        if process.wait():
            raise SystemExit(f"{way} failed:\n{Path(log.name).read_text()}")
        result.total_secs = time.monotonic() - begin
        if way == "tf-frame":
            result.steps_per_sec = median_rate(os.path.join(folder, "metrics.csv"))
    return result


def note(result: Result, line: str, secs: float, target: float) -> None:
    """Takes what a line says into the result."""
    if found := _EVALUATION.search(line):
        result.mean_iou = float(found[2])
        if result.target_secs == math.inf and result.mean_iou >= target:
            result.target_secs, result.target_step = secs, int(found[1])
    elif found := _RATE.search(line):
        result.steps_per_sec = float(found[1])


def median_rate(path: str) -> float:
    """Returns the median steps/s of a run's `metrics.csv`.

    Raises:
      SystemExit: the run is too short to have a rate.
    """
    rates = []
    if os.path.exists(path):
        with open(path, newline="") as file:
            rates = [row.get("steps_per_sec") for row in csv.DictReader(file)]
    if not any(rates):
        raise SystemExit("tf-frame logged no steps/s; choose more --steps")
    return median(float(rate) for rate in rates if rate)


def table(results: dict[str, list[Result]], target: float) -> Iterator[str]:
    """Yields the lines of the table: medians over the seeds, and ratios of tf-frame to the others.

    A training that did not reach the target counts as endless.
    """
    line = "{:<12}{:>10}{:>9}{:>9}{:>9}{:>10}{:>9}"
    yield line.format("", f"s to {target}", "at step", "ratio", "steps/s", "mean IoU", "total s")
    of_frame = median(each.target_secs for each in results[WAYS[0]])
    for way, trainings in results.items():
        secs = median(each.target_secs for each in trainings)
        yield line.format(
            way,
            f"{secs:.1f}",
            f"{median(each.target_step for each in trainings):.0f}",
            f"{of_frame / secs:.2f}",
            f"{median(each.steps_per_sec for each in trainings):.2f}",
            f"{median(each.mean_iou for each in trainings):.4f}",
            f"{median(each.total_secs for each in trainings):.1f}",
        )


def rows(results: dict[str, list[Result]], seeds: Sequence[int]) -> Iterator[list[str]]:
    """Yields the row of each seed, and that of the medians."""
    for seed, *pair in zip(seeds, *results.values(), strict=True):
        secs = [f"{each.target_secs:.1f} (step {each.target_step:.0f})" for each in pair]
        yield [str(seed), *_cells(secs, pair)]
    medians = [
        Result(*(median(values) for values in zip(*map(dataclasses.astuple, each), strict=True)))
        for each in results.values()
    ]
    yield ["median", *_cells([f"{each.target_secs:.1f}" for each in medians], medians)]


def _cells(secs: Sequence[str], pair: Sequence[Result]) -> list[str]:
    ratio = pair[0].target_secs / pair[1].target_secs
    rates = [f"{each.steps_per_sec:.2f}" for each in pair]
    return [*secs, f"{ratio:.2f}", *rates, ", ".join(f"{each.mean_iou:.3f}" for each in pair)]


def main() -> None:
    """Prints each training, then the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--eval_every", type=int, default=25)
    parser.add_argument("--target", type=float, default=0.88)
    parser.add_argument("--xla", action="store_true", help="also train Keras with XLA")
    parser.add_argument("--write", action="store_true", help="write docs/figures/deeplab.json")
    argv = parser.parse_args()
    if argv.write and argv.xla:
        parser.error("--write is for tf-frame and Keras without XLA")
    results: dict[str, list[Result]] = {way: [] for way in WAYS[: 3 if argv.xla else 2]}
    for seed in argv.seeds:
        for way, trainings in results.items():
            trainings.append(train(way, seed, argv))
            print(f"seed {seed}  {way:<12}{trainings[-1]}", flush=True)
    print(*table(results, argv.target), sep="\n")
    if argv.write:
        head = ["seed", *(f"{way}, s" for way in results), "ratio"]
        head += [*(f"{way}, steps/s" for way in results), f"mean IoU after {argv.steps} steps"]
        write_table(head, rows(results, argv.seeds), code=["plugins/deeplab/src"])


if __name__ == "__main__":
    main()
