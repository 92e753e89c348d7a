"""Measures jobs of several processes: steps/s against bare TensorFlow, bytes, the end.

    python tools/bench/cluster.py [--millions 5 25] [--rounds 3] [--only TEXT]

Each row is an arrangement of tasks on this machine, over loopback: `tf-frame launch`, and the
same tasks of bare TensorFlow (`cluster_bare.py`), in turns; a figure is the median of the
rounds, and so is the ratio of two neighbours. The model (`cluster_dense.py`) has many
parameters and little to compute, so that what is measured is the transfer. On a machine that has
other work on loopback, count the bytes in a network of its own:

    unshare --net --map-root-user sh -c 'ip link set lo up; python tools/bench/cluster.py'

Steps/s are global steps, between the first mark of the last worker to begin and the last mark
of the first one to end. A synchronous step has a batch of every worker. Bytes are those that
the loopback interface sent meanwhile, per global step, with the headers of TCP and IP; beside
them what the parameters and gradients take. CPU is the processor time of all tasks per global
step. The end is the time from the last step of any worker to the exit of the launcher,
which is the last process.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cluster_dense import BATCH, LAYERS, width_of

from tf_frame.testing.distributions import write_distribution
from tf_frame.testing.ports import free_ports

_HERE = pathlib.Path(__file__).parent
_LINE = "{:<28}{:>8}{:>8}{:>7}{:>20}{:>9}{:>9}{:>9}{:>8}{:>8}{:>7}"
_MARKS = 12
# Marks of the first steps are left out: TensorFlow still connects, optimises, allocates.
_WARM = 2


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """Tasks of a job: parameter servers, workers, and whether they make steps together."""

    num_ps: int
    num_workers: int
    sync: bool = False

    @property
    def name(self) -> str:
        """The name of the row."""
        if self.num_ps:
            kind = "sync" if self.sync else "async"
            return f"{self.num_ps} ps {self.num_workers} workers {kind}"
        return "one process" if self.num_workers == 1 else f"all-reduce {self.num_workers} workers"

    @property
    def has_bare(self) -> bool:
        """Whether bare TensorFlow is measured beside it."""
        return self.num_ps > 0 or self.num_workers == 1

    def payload(self, size: int) -> float:
        """Bytes between tasks in a global step, computed.

        Args:
          size: bytes of the parameters.
        """
        workers = self.num_workers
        if self.num_ps:  # Parameters to a worker, gradients from it.
            return 2 * size * (workers if self.sync else 1)
        return 2 * (workers - 1) * size  # A ring: each sends 2 (W - 1) / W of them.


ARRANGEMENTS = [
    Arrangement(0, 1),
    *(Arrangement(*n, sync=s) for s in (False, True) for n in ((1, 1), (1, 2), (2, 2))),
    Arrangement(0, 2),
]


@dataclasses.dataclass(frozen=True)
class Job:
    """What is run: an arrangement, the width of the layers, the last step, the time limit."""

    tasks: Arrangement
    width: int
    steps: int
    limit_secs: float

    @property
    def every(self) -> int:
        """Steps between marks."""
        return max(1, self.steps // _MARKS)


@dataclasses.dataclass(frozen=True)
class Figures:
    """What a run showed, in the units of the table; `end` of bare TensorFlow is not a number."""

    steps: float
    sent: float
    busy: float
    end: float = float("nan")


def figures(folder: str, job: Job, ended: float = float("nan")) -> Figures:
    """Evaluates the marks of all workers.

    Args:
      folder: where they are.
      job: what was run.
      ended: when the last process ended, seconds since 1970.
    """
    paths = [pathlib.Path(folder, f"marks-{task}") for task in range(job.tasks.num_workers)]
    every = [[json.loads(line) for line in path.read_text().splitlines()] for path in paths]
    begin = max(marks[min(_WARM, len(marks) - 1)]["time"] for marks in every)
    end = min(marks[-1]["time"] for marks in every)
    within = [mark for mark in every[0] if begin <= mark["time"] <= end]
    if len(within) < 3:
        raise RuntimeError(f"too few marks while all workers ran; see {folder}")
    first, last = within[0], within[-1]
    moved = {key: last[key] - first[key] for key in first}
    return Figures(
        moved["step"] / moved["time"],
        moved["sent"] / moved["step"],
        moved["busy"] / moved["step"],
        ended - max(marks[-1]["time"] for marks in every),
    )


def run_frame(job: Job, folder: str) -> Figures:
    """Runs `tf-frame launch` to its end."""
    tasks = job.tasks
    command = [sys.executable, "-m", "tf_frame", "launch", f"--num_ps={tasks.num_ps}"]
    command += [f"--num_workers={tasks.num_workers}", "--max_restarts=0", "--", "run"]
    command += ["--plugin=dense", f"--input.width={job.width}", f"--train_batch_size={BATCH}"]
    command += [f"--model_dir={folder}", f"--max_steps={job.steps}", "--noevaluate"]
    command += ["--optimizer=sgd", "--learning_rate=0.01", "--hook=marks"]
    command += [f"--hook.marks.every_steps={job.every}"]
    command += [f"--hook.marks.workers={tasks.num_workers}"]
    command += ["--sync_replicas"] if tasks.sync else []
    with started([command], folder) as (launcher,):
        code = launcher.wait(job.limit_secs)
        if code:
            raise RuntimeError(f"tf-frame launch: exit code {code}; see {folder}")
        return figures(folder, job, time.time())


def run_bare(job: Job, folder: str) -> Figures:
    """Runs the tasks of bare TensorFlow up to the last step of each worker, and kills them."""
    tasks, commands, cluster = job.tasks, [], {}
    if tasks.num_ps:
        addresses = [f"127.0.0.1:{p}" for p in free_ports(tasks.num_ps + tasks.num_workers)]
        cluster = {"ps": addresses[: tasks.num_ps], "worker": addresses[tasks.num_ps :]}
    common = dict(cluster=cluster, folder=folder, width=job.width, sync=tasks.sync)
    for name, count in (("ps", tasks.num_ps), ("worker", tasks.num_workers)):
        for index in range(count):
            task = dict(common, job=name, index=index, steps=job.steps, every=job.every)
            commands.append([sys.executable, str(_HERE / "cluster_bare.py"), json.dumps(task)])
    with started(commands, folder) as processes:
        wait_for_marks(job, folder, processes)
        return figures(folder, job)


def wait_for_marks(job: Job, folder: str, processes: Sequence[Any]) -> None:
    """Waits for the mark of the last step of every worker."""
    deadline = time.monotonic() + job.limit_secs
    while not all(_last_step(folder, task) >= job.steps for task in range(job.tasks.num_workers)):
        if time.monotonic() > deadline or any(p.poll() is not None for p in processes):
            raise RuntimeError(f"bare TensorFlow ended early or takes too long; see {folder}")
        time.sleep(0.1)


def _last_step(folder: str, task: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = pathlib.Path(folder, f"marks-{task}").read_text(encoding="utf-8").splitlines()
        return int(json.loads(lines[-1])["step"])
    return 0


@contextlib.contextmanager
def started(commands: Sequence[Sequence[str]], folder: str) -> Iterator[list[Any]]:
    """Starts processes that write to files in a folder, and leaves none of them."""
    site = pathlib.Path(folder, "site")
    points = {f"tf_frame.{kind}: dense": f"cluster_dense:{name}" for kind, name in _POINTS.items()}
    points["tf_frame.hooks: marks"] = "cluster_dense:MarksPlugin"
    write_distribution(site, "tf-frame-bench", points)
    env = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{_HERE}", "TF_CPP_MIN_LOG_LEVEL": "2"}
    processes = []
    try:
        for index, command in enumerate(commands):
            with open(os.path.join(folder, f"output-{index}"), "w", encoding="utf-8") as output:
                processes.append(
                    subprocess.Popen(command, env=env, stdout=output, stderr=subprocess.STDOUT)
                )
        yield processes
    finally:
        for process in processes:
            end(process, gently=len(processes) == 1)


_POINTS = {"models": "Dense", "inputs": "DenseInput"}


def end(process: Any, *, gently: bool) -> None:
    """Ends a process; a launcher gets time to end its tasks."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM if gently else signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(30)
    process.kill()
    process.wait()


def measured(run: Callable[[Job, str], Figures], job: Job, *, keep: bool) -> Figures | None:
    """Runs once, in a folder of its own; None if it failed, with a line on the standard error."""
    folder = tempfile.mkdtemp(prefix="cluster_bench_")
    try:
        result = run(job, folder)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"{job.tasks.name}, {run.__name__}: {error}", file=sys.stderr, flush=True)
        return None
    if not keep:
        subprocess.run(["rm", "-rf", folder], check=False)
    return result


def row(job: Job, *, rounds: int, keep: bool) -> str:
    """Measures an arrangement, and returns its line."""
    bare, frame, ratios = [], [], []
    for _ in range(rounds):
        one = measured(run_bare, job, keep=keep) if job.tasks.has_bare else None
        other = measured(run_frame, job, keep=keep)
        bare += [one] if one else []
        frame += [other] if other else []
        ratios += [other.steps / one.steps] if one and other else []
    each = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""
    payload = job.tasks.payload(4 * LAYERS * job.width**2)
    cells = [_median(bare, "steps"), _median(frame, "steps")]
    cells += [statistics.median(ratios) if ratios else float("nan")]
    numbers = [payload / 1e6, _median(bare, "sent") / 1e6, _median(frame, "sent") / 1e6]
    ends = [_median(bare, "busy"), _median(frame, "busy"), _median(frame, "end")]
    return _LINE.format(
        job.tasks.name,
        *(f"{cell:.2f}" for cell in cells),
        f"({each})" if each else "",
        *(f"{number:.1f}" for number in numbers),
        *(f"{number:.3f}" for number in ends[:2]),
        f"{ends[2]:.1f}",
    ).replace("nan", "  -")


def _median(done: Sequence[Figures], name: str) -> float:
    values = [getattr(each, name) for each in done]
    return statistics.median(values) if values else float("nan")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[5, 25], help="parameters")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender in a row")
    parser.add_argument("--step_secs", type=float, default=8, help="about as long are the steps")
    parser.add_argument("--limit_secs", type=float, default=90, help="of a run, with its start")
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs")
    argv = parser.parse_args()
    for millions in argv.millions:
        width = width_of(millions * 1e6)
        print(f"\n{LAYERS * width**2 / 1e6:.2f} million parameters, {argv.rounds} rounds")
        print(
            _LINE.format(
                "", "bare", "frame", "ratio", "", "MB", "bare", "frame", "bare", "frame", "end"
            )
        )
        print(
            _LINE.format(
                "",
                "steps/s",
                "steps/s",
                "median",
                "(each)",
                "computed",
                "MB",
                "MB",
                "CPU s",
                "CPU s",
                "s",
            )
        )
        for tasks in ARRANGEMENTS:
            if argv.only in tasks.name:
                job = Job(tasks, width, steps_for(millions, tasks, argv.step_secs), argv.limit_secs)
                print(row(job, rounds=argv.rounds, keep=argv.keep), flush=True)


def steps_for(millions: float, tasks: Arrangement, secs: float) -> int:
    """Steps that take about as long on two cores: some 100 million parameters are moved in 1 s."""
    moved = max(tasks.payload(int(4e6 * millions)) / 8e6, millions / 5)
    return max(4 * _MARKS, int(secs * 100 / moved))


if __name__ == "__main__":
    main()
