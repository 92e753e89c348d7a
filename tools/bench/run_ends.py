"""Measures both ends of a run: from the process to the first steps, from the last step to the exit.

    python tools/bench/run_ends.py [--turns 10] [--plugin deeplab] [--write] [PROGRAM ...]

Each PROGRAM is a `tf-frame`, by default that of this environment; those of several environments,
such as one before and one after a change, take turns. `--write` calls the first of two programs
`before` and the second one `now`.

    first screen   lines about the run, before TensorFlow is imported
    first steps    two have ended, with the graph built and its kernels chosen
    exit           after the last step: the checkpoint, the evaluation, the end of the process
    whole          the run, with all its steps
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figure_file import write_table

OWN = str(Path(sys.executable).with_name("tf-frame"))
_STEPS = 20
_ENDS = (
    "from the process to the end of the second step",
    "from the last step to the exit, with an evaluation",
    "both together",
    f"the whole run, {_STEPS} steps",
)
_STEP = re.compile(rf"step (\d+)/{_STEPS} ")


def ends(program: str, plugin: str) -> tuple[float, float, float, float]:
    """Returns seconds to the first screen, to the second step, after the last one, and in all."""
    seen: dict[str, float] = {}
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
        end = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{program} failed")
    return seen["screen"], seen["2"], end - seen[str(_STEPS)], end


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
    figures: dict[str, list[tuple[float, float, float, float]]] = {
        name: [] for name in argv.programs
    }
    for _ in range(argv.turns):
        for program in argv.programs:
            figures[program].append(ends(program, argv.plugin))
    print(f"{'':<40}{'first screen':>14}{'first steps':>12}{'exit':>8}{'both':>8}{'whole':>8}")
    columns = []
    for program, turns in figures.items():
        medians = [statistics.median(column) for column in zip(*turns, strict=True)]
        both = medians[1] + medians[2]
        print(f"{program:<40}{_row([*medians[:3], both, medians[3]])}", flush=True)
        columns.append([f"{secs:.2f} s" for secs in (*medians[1:3], both, medians[3])])
    if argv.write:
        rows = list(zip(_ENDS, *columns, strict=True))
        code = ["framework/tf_frame/runs/training", "framework/tf_frame/runs/setup"]
        names = dict(zip(argv.programs, ("before", "now")[-len(argv.programs) :], strict=True))
        words = [names[word].upper() if word in names else word for word in sys.argv[1:]]
        write_table(["", *names.values()], rows, code=code, words=words)


def _row(seconds: Sequence[float]) -> str:
    widths = (14, 12, 8, 8, 8)
    return "".join(
        f"{value:>{width - 2}.2f} s" for value, width in zip(seconds, widths, strict=True)
    )


if __name__ == "__main__":
    main()
