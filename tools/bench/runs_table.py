"""Measures `tf-frame runs` over bare Python.

    python tools/bench/runs_table.py [--runs 1000] [--turns 11] [--write]

The runs are made up: options of which some differ, a status, a result, a hundred log intervals and
ten evaluations. Both programs take turns; the table has medians.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figure_file import write_figures

from tf_frame.cluster.status import TaskStatus, write_status
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.config.yaml_file import to_yaml

_PROGRAMS = {
    "tf-frame runs": [sys.executable, "-m", "tf_frame", "runs"],
    "bare Python": [sys.executable, "-c", "pass"],
}


def make_run(folder: Path, number: int) -> None:
    """Makes the folder of a run."""
    folder.mkdir()
    words = ["--plugin", "deeplab", "--learning_rate", str(0.01 * (number % 9 + 1))]
    settings = parse_command_line(words).setup().settings()
    (folder / "config.yaml").write_text(to_yaml(settings, "made up"))
    rows = [f"{step},train,2026-01-01,{1 / step}," for step in range(1, 101)]
    rows += [f"{step},eval,2026-01-01,{1 / step},{1 - 1 / step}" for step in range(10, 101, 10)]
    (folder / "metrics.csv").write_text("\n".join(["step,split,time,loss,mean_iou", *rows, ""]))
    now = time.time()
    facts = {"step": 100, "max_steps": 100, "pid": os.getpid(), "host": socket.gethostname()}
    write_status(str(folder), TaskStatus(task="chief-0", state="ended", time=now - 1, **facts))
    result = {"global_step": 100, "time": now, "duration_secs": 60.0, "steps_per_sec": 2.0}
    (folder / "result.json").write_text(json.dumps(result))


def main() -> None:
    """Prints the medians and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--write", action="store_true", help="write docs/figures/runs_table.json")
    argv = parser.parse_args()
    secs: dict[str, list[float]] = {name: [] for name in _PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(argv.runs):
            make_run(Path(folder, f"run-{number:04}"), number)
        for _ in range(argv.turns):
            for name, words in _PROGRAMS.items():
                began = time.perf_counter()
                subprocess.run([*words, folder], check=True, stdout=subprocess.DEVNULL)
                secs[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(values) for name, values in secs.items()}
    for name, value in medians.items():
        print(f"{name:<16}{value:.3f} s")
    difference = medians["tf-frame runs"] - medians["bare Python"]
    print(f"{'difference':<16}{difference:.3f} s")
    if argv.write:
        what = f"`tf-frame runs` with {argv.runs:,} runs, over bare Python"
        code = ("framework/tf_frame/runs/records", "framework/tf_frame/cli/runs.py")
        write_figures({what: f"{difference:.2f} s"}, code=code)


if __name__ == "__main__":
    main()
