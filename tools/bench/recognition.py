"""Measures `tf-frame run --plugin recognition`: its speed beside Keras, and its word accuracy.

    python tools/bench/recognition.py [--turns 7] [--step_secs 10] [--write]
    python tools/bench/recognition.py --jobs ctc attention bent bent_rectified [--seeds 1 2 3 4 5]
        [--write]

The first prints training steps/s of the default model and of a reader of words in Keras
(`recognition_keras.py`) on batches of the very same `tf.data` pipeline. Each has a process of its
own; they take turns, so that a busy machine slows both. A ratio is that of two neighbouring turns,
and the table has medians; the first turn of each is to warm up.

With `--jobs` each job and seed is a `tf-frame run`, and a line gives its figures on the 500
evaluation strings, the seconds of its steps but the first, and those of the whole run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from command_line import frame
from contenders import answer, contender
from detection import measure, train
from figure_file import write_table

KERAS = str(Path(__file__).with_name("recognition_keras.py"))
COMMANDS = {
    "tf-frame": [sys.executable, __file__, "--worker"],
    "Keras": [sys.executable, KERAS, "--worker"],
}
BENT = ("--input.image_size", "64,160", "--input.bend", "0.33", "--input.rotation", "30")
JOBS: Mapping[str, Sequence[str]] = {
    "ctc": (),
    "attention": ("--model.head", "attention"),
    "bent": BENT,
    "bent_rectified": (*BENT, "--model.rectify"),
}
# The least word accuracy, and the most seconds of training, of a job that is to reach them.
BOUNDS = {"ctc": (0.88, 180.0), "attention": (0.80, 360.0)}
FIGURES = ("word_accuracy", "edit_distance")
_CODE = ("plugins/recognition/src",)
# More steps than there is time for.
ENDLESS = 10**6


def make_setup(model_dir: str = "") -> Any:
    """The setup of a run with the plugin's defaults, but without the profile of a step."""
    from tf_frame.command_line.parsing import parse_command_line

    argv = ["--plugin", "recognition", "--model_dir", model_dir, "--max_steps", str(ENDLESS)]
    return parse_command_line([*argv, "--set", "profile_at_step=[]"]).setup()


def work() -> None:
    """Trains with tf-frame, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        setup = make_setup(folder)
        answer(train(setup, setup.make_input()))


def print_speed(turns: int, step_secs: float) -> list[str]:
    """Prints steps/s and the numbers of trainable parameters; returns the row of steps/s."""
    with contextlib.ExitStack() as stack:
        asks = {name: stack.enter_context(contender(words)) for name, words in COMMANDS.items()}
        print(f"{'':<28}{'tf-frame':>10}{'Keras':>10}    ratio   (95 % interval)")
        row = measure("training, steps/s", asks, f"train {step_secs}", turns)
        parameters = [ask("stop")[0] for ask in asks.values()]
        print(f"{'parameters':<28}" + "".join(f"{count:>10.0f}" for count in parameters))
    return row


def accuracy(job: str, seed: int) -> dict[str, float]:
    """Trains and evaluates; returns figures and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        run = ("run", "--plugin", "recognition", "--model_dir", folder)
        frame(*run, "--random_seed", str(seed), *JOBS[job])
        result = json.loads(Path(folder, "result.json").read_text())
    figures = {name: result["metrics"][name] for name in FIGURES}
    steps = result["global_step"]
    training = (steps - 1) / result["steps_per_sec"]
    return {**figures, "steps": steps, "training_secs": training, "secs": result["duration_secs"]}


def print_accuracy(job: str, seeds: Sequence[int]) -> list[str]:
    """Prints figures and medians, and how many seeds are within the bounds; returns a row."""
    measured = []
    for seed in seeds:
        measured.append(accuracy(job, seed))
        print_line(job, f"seed {seed}", measured[-1])
    medians = {name: statistics.median(each[name] for each in measured) for name in measured[0]}
    print_line(job, "median", medians)
    if job in BOUNDS:
        least, most = BOUNDS[job]
        within = [
            each["word_accuracy"] >= least and each["training_secs"] <= most for each in measured
        ]
        print(f"{job}: {sum(within)} of {len(within)} reach {least} within {most:.0f} s")
    columns = (" ".join(f"{each[name]:.3f}" for each in measured) for name in FIGURES)
    secs = [round(each["training_secs"]) for each in measured]
    options = f"`{' '.join(JOBS[job])}`" if JOBS[job] else "default (CTC)"
    return [options, ", ".join(map(str, seeds)), *columns, f"{min(secs)} to {max(secs)}"]


def print_line(job: str, what: str, figures: Mapping[str, float]) -> None:
    """Prints figures in one line."""
    values = (f"{name} {value:.4g}" for name, value in figures.items())
    print(f"{job:15} {what:7} {'  '.join(values)}", flush=True)


def main() -> None:
    """Prints what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7, help="turns of each that count")
    parser.add_argument("--step_secs", type=float, default=10, help="seconds of a turn")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, help="word accuracy of these, not speed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--write", action="store_true", help="write docs/figures/recognition.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    argv = parser.parse_args()
    if argv.worker:
        work()
    elif argv.jobs:
        rows = [print_accuracy(job, argv.seeds) for job in argv.jobs]
        if argv.write:
            head = ["run", "seeds", "word accuracy", "edit distance", "training, s"]
            write_table(head, rows, code=_CODE, table="accuracy")
    else:
        row = print_speed(argv.turns, argv.step_secs)
        if argv.write:
            write_table(["", *COMMANDS, "ratio"], [row], code=_CODE, table="speed")


if __name__ == "__main__":
    main()
