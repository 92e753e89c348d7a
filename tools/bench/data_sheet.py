"""Measures the cost of `data.json` and `data/train.png` for `tf-frame run --plugin deeplab`.

    python tools/bench/data_sheet.py [--repeats 5] [--steps 110]

Runs with both and without both take turns, each in a process of its own. Measured are the seconds
of the whole process, and the seconds of its processor, which other programs on the machine disturb
less. The default run must not take 0.3 s more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

_WITHOUT = """
import sys
from tf_frame.cli.main import main
from tf_frame.plugin.data_report import DataReport
from tf_frame.runs.training import training
from tf_frame.runs.training.hooks import logs

logs._sheet_hook = lambda parts, companions: None
training.find_data_report = lambda source: DataReport()
sys.exit(main(sys.argv[1:]))
"""
_WAYS = {"with": ["-m", "tf_frame"], "without": ["-c", _WITHOUT]}


def measure(way: str, steps: int) -> tuple[float, float]:
    """Returns the seconds of a run, and those of its processor."""
    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, "run")
        words = ["run", "--plugin", "deeplab", "--max_steps", str(steps), "--noevaluate"]
        before, begin = os.times(), time.monotonic()
        subprocess.run(
            [sys.executable, *_WAYS[way], *words, "--model_dir", folder],
            check=True,
            capture_output=True,
        )
        secs, after = time.monotonic() - begin, os.times()
        is_written = os.path.exists(os.path.join(folder, "data", "train.png"))
        assert is_written == (way == "with"), f"{folder} has a sheet: {is_written}"
    used = after.children_user + after.children_system
    return secs, used - before.children_user - before.children_system


def main() -> None:
    """Measures in turns, and prints medians and the median difference of the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=110)
    argv = parser.parse_args()
    pairs = [[measure(way, argv.steps) for way in _WAYS] for _ in range(argv.repeats)]
    for number, kind in enumerate(("seconds", "processor seconds")):
        with_both, without = ([pair[k][number] for pair in pairs] for k in (0, 1))
        difference = median(a - b for a, b in zip(with_both, without, strict=True))
        print(
            f"{kind:>18}: {median(with_both):6.2f} with, {median(without):6.2f} without, "
            f"difference {difference:+.2f}"
        )


if __name__ == "__main__":
    main()
