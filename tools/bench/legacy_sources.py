"""Measures `tf-frame legacy check` on copies of sources, `convert`, and `tf-frame legacy where`.

    python tools/bench/legacy_sources.py [--sources DIR] [--files 400] [--runs 5]

Each run is a process of its own, so that the start counts; the CPU time of the process is measured
beside the time on the clock.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

_SOURCES = Path(__file__).parents[2] / "plugins/legacy/tests/scenarios"
_NAME = "tf.contrib.training.HParams"


def main() -> None:
    """Prints the least times of each command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sources", type=Path, default=_SOURCES)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, new = Path(folder, "program"), Path(folder, "new")
        lines = copy_sources(args.sources, program, args.files)
        print(f"{args.files} files, {lines} lines")
        show("check", args.runs, ["check", str(program)])
        show("convert", 1, ["convert", str(program), "--output", str(new)])
    show(f"where {_NAME}", args.runs, ["where", _NAME])


def copy_sources(sources: Path, program: Path, count: int) -> int:
    """Copies the Python files of a folder until there are so many; returns the number of lines."""
    files, lines = sorted(sources.rglob("*.py")), 0
    for number, file in enumerate(itertools.islice(itertools.cycle(files), count)):
        target = program / f"copy{number // len(files)}" / file.relative_to(sources)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
        lines += file.read_bytes().count(b"\n")
    return lines


def show(title: str, runs: int, words: list[str]) -> None:
    """Prints the least seconds on the clock and of CPU of a command."""
    times = [timed(words) for _ in range(runs)]
    clock, cpu = map(min, zip(*times, strict=True))
    print(f"{title}: {clock:.2f} s on the clock, {cpu:.2f} s of CPU, least of {runs}")


def timed(words: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of CPU of one command.

    Raises:
      SystemExit: the command failed, other than by findings of `check`.
    """
    before, began = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "tf_frame", "legacy", *words]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    secs, after = time.perf_counter() - began, getrusage(RUSAGE_CHILDREN)
    return secs, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
