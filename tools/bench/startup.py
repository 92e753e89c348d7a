"""Measures the start of quick commands, such as `--help`, against that of a bare interpreter.

    python tools/bench/startup.py [--runs 21] [--write]

They must answer at once, without the seconds that an import of TensorFlow takes. Every round runs
all commands once, in turn, so that a busy machine slows all of them; the table holds medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from figure_file import write_figures

PROGRAM = str(Path(sys.executable).with_name("tf-frame"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "tf-frame --help": [PROGRAM, "--help"],
    "tf-frame plugins list": [PROGRAM, "plugins", "list"],
    "tf-frame plugins list --json": [PROGRAM, "plugins", "list", "--json"],
    "tf-frame plugins show deeplab": [PROGRAM, "plugins", "show", "deeplab"],
    "tf-frame run --plugin deeplab --help": [PROGRAM, "run", "--plugin", "deeplab", "--help"],
    "a mistyped option": [PROGRAM, "run", "--plugin", "deeplab", "--num_clone", "2"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=21, help="rounds")
    parser.add_argument("--write", action="store_true", help="write docs/figures/startup.json")
    argv = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(argv.runs):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    medians = {name: statistics.median(values) for name, values in times.items()}
    bare = medians["python -c pass"]
    for name, median in medians.items():
        print(f"{name:<40}{median:7.3f} s{median - bare:+8.3f} s")
    if argv.write:
        more = sorted(medians[name] - bare for name in list(COMMANDS)[1:])
        what = "quick commands, more than a bare `python -c pass`"
        code = ["framework/tf_frame/cli", "framework/tf_frame/command_line"]
        write_figures({what: f"{more[0]:.2f} to {more[-1]:.2f} s"}, code=code)


if __name__ == "__main__":
    main()
