"""Measures jobs of several processes: steps/s against bare TensorFlow, bytes, the end.

    python tools/bench/cluster.py [--millions 5 25] [--starts 3] [--turns 10] [--only TEXT]
        [--write]

Each row is an arrangement of tasks on this machine, over loopback: `tf-frame launch` with its
default hooks, and the same tasks of bare TensorFlow (`cluster_bare.py`). Both jobs are started,
and then take turns of a few seconds: one is paused (SIGSTOP to all its processes) while the
other runs. A ratio is that of two neighbouring turns; the table has the median, and the
quartiles. How fast a process moves memory differs from start to start, by a quarter and more;
so a row starts its jobs several times. The model (`cluster_dense.py`) has many parameters and
little to compute, so that what is measured is the transfer.

Steps/s are global steps; a synchronous one has a batch of every worker. MB are what loopback
sends in a global step, with the headers of TCP, beside what parameters and gradients take. CPU
is the processor time of all tasks in a global step. The end is the time from the last step of
any worker to the exit of the launcher, which is the last process; the longest of all starts.

On a machine that has other work on loopback, count the bytes in a network of its own:

    unshare --net --map-root-user sh -c 'ip link set lo up; python tools/bench/cluster.py'
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from cluster_dense import LAYERS, layer_width
from cluster_jobs import Job, RunningJob, bare_commands, frame_commands, running
from figure_file import write_table

_LINE = "{:<24}{:>8}{:>8}{:>7}{:>16}{:>10}{:>8}{:>8}{:>8}{:>8}{:>7}"
_HEAD = [
    ["", "bare", "frame", "ratio", "", "MB", "bare", "frame", "bare", "frame", "end"],
    ["", *["steps/s"] * 2, "median", "(quartiles)", "computed", "MB", "MB", *["CPU s"] * 2, "s"],
]
_COLUMNS = ["parameters", "tasks", "bare, steps/s", "tf-frame", "ratio (quartiles)"]
_COLUMNS += ["MB: computed, bare, tf-frame", "CPU s: bare, tf-frame", "end, s"]
_CODE = [f"framework/tf_frame/{name}" for name in ("cluster", "deploy", "graph/update", "session")]
JOBS = [
    Job(0, 1),
    *(Job(*tasks, sync=sync) for sync in (False, True) for tasks in ((1, 1), (1, 2), (2, 2))),
    Job(0, 2),
]


def measure(job: Job, folder: str, argv: argparse.Namespace) -> tuple[list[RunningJob], float]:
    """Runs a job of tf-frame and one of bare TensorFlow in turns.

    Returns:
      The jobs, that of tf-frame last; and the seconds of its end.
    """
    deadline = time.monotonic() + argv.limit_secs
    kinds = [bare_commands, frame_commands] if job.has_bare else [frame_commands]
    with contextlib.ExitStack() as stack:
        jobs = []
        for kind in kinds:
            one = running(job, kind, os.path.join(folder, kind.__name__))
            jobs.append(stack.enter_context(one))
            # In the first steps TensorFlow connects, optimises, allocates.
            jobs[-1].wait_for_step(3 * job.every, deadline)
            jobs[-1].pause()
        for _ in range(argv.turns):
            if not all(each.turn(argv.turn_secs) for each in jobs):
                break
        return jobs, jobs[-1].run_out(argv.limit_secs)


def row(job: Job, done: Sequence[tuple[Sequence[RunningJob], float]]) -> list[str]:
    """The cells of a line, of the jobs of all starts, each with the seconds of its end."""
    bare = [jobs[0] for jobs, _ in done if len(jobs) > 1]
    frame = [jobs[-1] for jobs, _ in done]
    ratios = [
        b / a
        for x, y in zip(bare, frame, strict=False)
        for a, b in zip(x.rates, y.rates, strict=False)
    ]
    middle, spread = f"{statistics.median(ratios):.2f}" if ratios else "-", ""
    if len(ratios) > 1:
        first, _, third = statistics.quantiles(ratios, n=4)
        spread = f"({first:.2f} to {third:.2f})"
    both = (bare, frame)
    cells = [*(f"{_rate(each):.2f}" for each in both), middle, spread, f"{job.payload() / 1e6:.1f}"]
    cells += [f"{_each(each, 'sent') / 1e6:.1f}" for each in both]
    cells += [f"{_each(each, 'busy'):.3f}" for each in both]
    cells += [f"{max(end for _, end in done):.1f}"]
    return [job.name, *(cell.replace("nan", "-") for cell in cells)]


def written(millions: float, cells: Sequence[str]) -> list[str]:
    """The cells of a line as the document has them."""
    name, bare, frame, ratio, spread, *others = (
        "\N{EN DASH}" if cell == "-" else cell for cell in cells
    )
    traffic, busy = ", ".join(others[:3]), ", ".join(others[3:5])
    return [
        f"{millions:g} M",
        name,
        bare,
        frame,
        " ".join(filter(None, (ratio, spread))),
        traffic,
        busy,
        others[5],
    ]


def _rate(jobs: Sequence[RunningJob]) -> float:
    rates = [rate for job in jobs for rate in job.rates]
    return statistics.median(rates) if rates else math.nan


def _each(jobs: Sequence[RunningJob], name: str) -> float:
    steps = sum(job.steps for job in jobs)
    return float(sum(getattr(job, name) for job in jobs) / steps) if steps else math.nan


def make_jobs(millions: float, secs: float) -> list[Job]:
    """The rows of a table, with as many steps as take about so long on two cores."""
    width, found = layer_width(millions * 1e6), []
    for job in JOBS:
        job = dataclasses.replace(job, width=width)
        moved = max(job.payload() / 1e9, millions / 1e3)  # 1 GB, or 1000 million alone, in 1 s.
        found.append(dataclasses.replace(job, steps=max(40, int(secs / moved))))
    return found


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[5, 25], help="parameters")
    parser.add_argument("--starts", type=int, default=3, help="how often a row starts its jobs")
    parser.add_argument("--turns", type=int, default=10, help="most turns of a job from a start")
    parser.add_argument("--turn_secs", type=float, default=2.5, help="seconds of a turn")
    parser.add_argument("--step_secs", type=float, default=20, help="about as long are the steps")
    parser.add_argument("--limit_secs", type=float, default=150, help="of a start; then it fails")
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--write", action="store_true", help="write docs/figures/cluster.json")
    argv = parser.parse_args()
    rows = []
    # Paused processes would stay.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    for millions in argv.millions:
        print(f"\n{LAYERS * layer_width(millions * 1e6) ** 2 / 1e6:.2f} million parameters")
        print(*(_LINE.format(*words) for words in _HEAD), sep="\n", flush=True)
        for job in make_jobs(millions, argv.step_secs):
            if argv.only in job.name:
                cells = measured_row(job, argv)
                print(cells if isinstance(cells, str) else _LINE.format(*cells), flush=True)
                if not isinstance(cells, str):
                    rows.append(written(millions, cells))
    if argv.write:
        write_table(_COLUMNS, rows, code=_CODE)


def measured_row(job: Job, argv: Any) -> list[str] | str:
    """Measures; returns the cells of the line, or what went wrong."""
    folder = tempfile.mkdtemp(prefix="cluster_bench_")
    try:
        cells = row(job, [measure(job, folder, argv) for _ in range(argv.starts)])
    except RuntimeError as error:
        return f"{job.name}: {error}"
    os.rmdir(folder)
    return cells


if __name__ == "__main__":
    main()
