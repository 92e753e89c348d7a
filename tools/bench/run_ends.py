"""Measures both ends of a run: from the process to the first step, from the last step to the exit.

    python tools/bench/run_ends.py [--turns 10] [--plugin deeplab] [--write] [PROGRAM ...]

Each PROGRAM is a `tf-frame`, by default that of this environment; those of several environments,
such as one before and one after a change, take turns. `--write` calls the first of two programs
`before` and the second one `now`.

    screen   lines about the run, before TensorFlow is imported
    first    the first step has ended, with the graph built and its kernels chosen
    second   the second step has ended; its line has the rate, and so the end of the first
    exit     after the last step: the checkpoint, the evaluation, the end of the process
    both     `first` and `exit`
    whole    the run, with all its steps
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figure_file import write_table

OWN = str(Path(sys.executable).with_name("tf-frame"))
_STEPS = 20
_ENDS = (
    "from the process to the end of the first step",
    "... of the second step",
    "from the last step to the exit, with an evaluation",
    "to the first step, and to the exit",
    f"the whole run, {_STEPS} steps",
)
_STEP = re.compile(rf"step (\d+)/{_STEPS} .* (\S+) steps/s")
_COLUMNS = ("screen", "first", "second", "exit", "both", "whole")


def ends(program: str, plugin: str) -> tuple[float, ...]:
    """Returns the seconds of the columns but for `both`."""
    seen: dict[str, float] = {}
    second_step_secs = 0.0
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--plugin", plugin, "--model_dir", f"{folder}/run"]
        words += ["--max_steps", str(_STEPS), "--log_every_n_steps", "1"]
        start = time.perf_counter()
        with subprocess.Popen(
            [program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                step = _STEP.match(line)
                seen.setdefault(step[1] if step else "screen", time.perf_counter() - start)
                if step and step[1] == "2":
                    second_step_secs = 1 / float(step[2])
        end = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{program} failed")
    first = seen["2"] - second_step_secs
    return seen["screen"], first, seen["2"], end - seen[str(_STEPS)], end


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=[OWN])
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--plugin", default="deeplab")
    parser.add_argument("--write", action="store_true", help="write docs/figures/run_ends.json")
    argv = parser.parse_args()
    if argv.write and len(argv.programs) > 2:
        parser.error("--write is for one program, or for two")
    for program in argv.programs:
        ends(program, argv.plugin)  # Fills the caches of the file system.
    figures: dict[str, list[tuple[float, ...]]] = {name: [] for name in argv.programs}
    for _ in range(argv.turns):
        for program in argv.programs:
            figures[program].append(ends(program, argv.plugin))
    print(f"{'':<40}" + "".join(f"{column:>10}" for column in _COLUMNS))
    columns = []
    for program, turns in figures.items():
        medians = [statistics.median(column) for column in zip(*turns, strict=True)]
        medians.insert(4, medians[1] + medians[3])
        cells = [f"{secs:.2f} s" for secs in medians]
        print(f"{program:<40}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
        columns.append(cells[1:])
    if argv.write:
        rows = list(zip(_ENDS, *columns, strict=True))
        code = ["framework/tf_frame/runs/training", "framework/tf_frame/runs/setup"]
        names = dict(zip(argv.programs, ("before", "now")[-len(argv.programs) :], strict=True))
        words = [names[word].upper() if word in names else word for word in sys.argv[1:]]
        write_table(["", *names.values()], rows, code=code, words=words)


if __name__ == "__main__":
    main()
