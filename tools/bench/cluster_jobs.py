"""Jobs of `cluster.py`: their tasks, started as processes, paused in turns, and ended.

    with RunningJob(frame_commands(job, folder), folder) as running:
        running.pause()
        rate = running.turn(2.0)

A job is paused by SIGSTOP to every process that names its folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from cluster_dense import BATCH, LAYERS, read_marks

from tf_frame.testing.distributions import write_distribution
from tf_frame.testing.ports import free_ports

_HERE = pathlib.Path(__file__).parent
_ENTRY_POINTS = {
    "tf_frame.models: dense": "cluster_dense:Dense",
    "tf_frame.inputs: dense": "cluster_dense:DenseInput",
    "tf_frame.hooks: marks": "cluster_dense:MarksPlugin",
}


@dataclasses.dataclass(frozen=True)
class Job:
    """An arrangement of tasks, and how long it trains.

    Attributes:
      num_ps, num_workers: the tasks.
      sync: whether the workers make steps together, through parameter servers.
      width: of the layers.
      steps: the last step.
    """

    num_ps: int
    num_workers: int
    sync: bool = False
    width: int = 8
    steps: int = 100

    @property
    def name(self) -> str:
        """The name of the row."""
        if not self.num_ps:
            return f"all-reduce, {self.num_workers} workers" if self.num_workers > 1 else "alone"
        plural = "s" if self.num_workers > 1 else ""
        return (
            f"{'' if self.sync else 'a'}sync, {self.num_ps} ps, {self.num_workers} worker{plural}"
        )

    @property
    def has_bare(self) -> bool:
        """True if bare TensorFlow is measured beside it."""
        return self.num_ps > 0 or self.num_workers == 1

    @property
    def every(self) -> int:
        """Steps between marks."""
        return max(1, self.steps // 60)

    def payload(self) -> int:
        """Bytes between tasks in a global step, computed."""
        size, workers = 4 * LAYERS * self.width**2, self.num_workers
        if self.num_ps:  # Parameters to a worker, gradients from it.
            return 2 * size * (workers if self.sync else 1)
        return 2 * (workers - 1) * size  # A ring: each sends 2 (W - 1) / W of them.


def frame_commands(job: Job, folder: str) -> list[list[str]]:
    """The command of tf-frame's launcher, which starts all tasks."""
    command = [sys.executable, "-m", "tf_frame", "launch", f"--num_ps={job.num_ps}"]
    command += [f"--num_workers={job.num_workers}", "--max_restarts=0", "--", "run"]
    command += ["--plugin=dense", f"--input.width={job.width}", f"--train_batch_size={BATCH}"]
    command += [f"--model_dir={folder}", f"--max_steps={job.steps}", "--noevaluate"]
    command += ["--optimizer=sgd", "--learning_rate=0.01", "--hook=marks"]
    command += [f"--hook.marks.every_steps={job.every}", f"--hook.marks.workers={job.num_workers}"]
    return [[*command, "--sync_replicas"] if job.sync else command]


def bare_commands(job: Job, folder: str) -> list[list[str]]:
    """The commands of the tasks of bare TensorFlow."""
    cluster = {}
    if job.num_ps:
        addresses = [f"127.0.0.1:{port}" for port in free_ports(job.num_ps + job.num_workers)]
        cluster = {"ps": addresses[: job.num_ps], "worker": addresses[job.num_ps :]}
    common = {"cluster": cluster, "folder": folder, "width": job.width, "sync": job.sync}
    common |= {"steps": job.steps, "every": job.every}
    tasks = [("ps", index) for index in range(job.num_ps)]
    tasks += [("worker", index) for index in range(job.num_workers)]
    program = str(_HERE / "cluster_bare.py")
    return [
        [sys.executable, program, json.dumps({**common, "job": name, "index": index})]
        for name, index in tasks
    ]


@dataclasses.dataclass
class RunningJob:
    """The processes of a job, and what they have used while it was its turn.

    Attributes:
      job: the tasks.
      folder: of marks and output; named in the command of every task.
      commands: what is started.
      sent: bytes that loopback has sent in all turns.
      busy: processor seconds in all turns.
      steps: global steps in all turns.
      rates: steps per second of each turn.
    """

    job: Job
    folder: str
    commands: Sequence[Sequence[str]]
    sent: int = 0
    busy: float = 0.0
    steps: int = 0
    rates: list[float] = dataclasses.field(default_factory=list)

    def start(self) -> None:
        """Starts the processes."""
        site = pathlib.Path(self.folder, "site")
        write_distribution(site, "tf-frame-bench", _ENTRY_POINTS)
        path = f"{site}{os.pathsep}{_HERE}"
        env = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "2"}
        self.processes: list[Any] = []
        for index, command in enumerate(self.commands):
            with open(os.path.join(self.folder, f"output-{index}"), "w", encoding="utf-8") as out:
                self.processes.append(
                    subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT)
                )

    def wait_for_step(self, step: int, deadline: float) -> None:
        """Waits until every worker has marked a step.

        Raises:
          RuntimeError: the time is up, or a process has ended.
        """
        while self.last_step() < step:
            if time.monotonic() > deadline or any(p.poll() is not None for p in self.processes):
                raise RuntimeError(f"it ended early, or takes too long; see {self.folder}")
            time.sleep(0.05)

    def last_step(self) -> int:
        """The last step that all workers have marked."""
        every = [read_marks(self.folder, task) for task in range(self.job.num_workers)]
        return min(marks[-1][1] if marks else 0 for marks in every)

    def pause(self) -> None:
        """Stops all processes where they are."""
        for pid in _pids(self.folder):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Lets them go on."""
        for pid in _pids(self.folder):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)

    def turn(self, secs: float) -> bool:
        """Runs for some seconds; returns whether there were steps enough to count."""
        self.resume()
        began, sent, busy = time.time(), _loopback_bytes(), _busy_secs(self.folder)
        time.sleep(secs)
        used = _loopback_bytes() - sent, _busy_secs(self.folder) - busy
        self.pause()
        marks = [mark for mark in read_marks(self.folder, 0) if mark[0] > began]
        if len(marks) < 2 or self.last_step() >= self.job.steps:
            return False
        steps, passed = marks[-1][1] - marks[0][1], marks[-1][0] - marks[0][0]
        self.rates.append(steps / passed)
        # The turn has parts of steps before its first and after its last mark.
        self.steps += steps
        self.sent += int(used[0] * passed / secs)
        self.busy += used[1] * passed / secs
        return True

    def run_out(self, secs: float) -> float:
        """Waits for the only process, the launcher; returns seconds from the last step to its end.

        Raises:
          RuntimeError: it ended with an error, or not in time.
        """
        self.resume()
        try:
            code = self.processes[0].wait(secs)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"does not end; see {self.folder}") from None
        if code:
            raise RuntimeError(f"exit code {code}; see {self.folder}")
        every = [read_marks(self.folder, task) for task in range(self.job.num_workers)]
        return time.time() - max(marks[-1][0] for marks in every)

    def close(self) -> None:
        """Ends every process."""
        for pid in _pids(self.folder):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def running(job: Job, commands: Any, folder: str) -> Iterator[RunningJob]:
    """Starts a job in a new folder; leaves no process, and no folder unless it failed."""
    os.makedirs(folder)
    this = RunningJob(job, folder, commands(job, folder))
    this.start()
    try:
        yield this
    finally:
        this.close()
    shutil.rmtree(folder)


def _pids(folder: str) -> list[int]:
    """The processes that have the folder in their command."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def _busy_secs(folder: str) -> float:
    """Processor seconds of these processes so far."""
    ticks = 0
    for pid in _pids(folder):
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _loopback_bytes() -> int:
    """Bytes that the loopback interface has sent; what is sent there is received once as well."""
    lines = pathlib.Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    counters = next(line for line in lines if line.split(":")[0].strip() == "lo")
    return int(counters.split(":")[1].split()[8])
