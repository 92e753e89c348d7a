"""The tasks of a job as real processes, which a test starts, kills, starts again and waits for.

    with RunningJob(folder, num_ps=1, num_workers=2, words=(*WORDS, "--max_steps", "20")) as job:
        job.start()
        job.wait_for_checkpoint(10)
        job.kill("worker-0")
        job.start("worker-0")
        job.ended_well()

Nothing restarts a task but the test; the launcher has tests of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

import forked
from counted_toy import write_counted_distribution
from tf_frame.cluster.status import TaskStatus, read_statuses
from tf_frame.launch.job import Job, tf_config
from tf_frame.launch.ports import free_ports

# Linear regression by gradient descent, without summaries and logs that cost time.
WORDS = ("run", "--plugin", "counted", "--optimizer", "sgd", "--learning_rate", "0.05")
# Momentum, so that the slots count as well, and shuffled data; slow enough to be disturbed.
LAST_STEP = 60
JOINT_WORDS = (
    *WORDS[:3],
    *("--optimizer", "momentum", "--learning_rate", "0.01", "--noevaluate"),
    *("--max_steps", str(LAST_STEP), "--train_batch_size", "4", "--input.shuffle"),
    *("--save_checkpoint_steps", "10", "--save_checkpoint_secs", "none"),
    *("--input.sleep_ms", "40"),
)
# Jobs that make every step together: number of parameter servers, and options.
JOINT_JOBS = {"sync": (1, ("--sync_replicas",)), "all-reduce": (0, ())}
START_SECS, END_SECS = 40.0, 40.0
_LOOK_SECS = 0.02


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of a process that has the plugin `counted` installed."""
    site = folder / "site"
    if not site.exists():
        write_counted_distribution(site)
    path = os.pathsep.join([str(site), str(Path(__file__).parent)])
    return {**os.environ, "PYTHONPATH": path}


def wait_for(condition: Callable[[], Any], what: object, secs: float = START_SECS) -> Any:
    """Waits until a condition is true, and returns its value."""
    deadline = time.monotonic() + secs
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {secs} s: {what}"
        time.sleep(_LOOK_SECS)
    return value


def held_ports(count: int) -> list[socket.socket]:
    """Takes free ports without listening: connections are refused, `free_ports` leaves them out."""
    held: list[socket.socket] = []
    while len(held) < count:
        holder = socket.socket()
        # A port that had connections a minute ago counts as free, but cannot be held.
        with contextlib.suppress(OSError):
            holder.bind(("", free_ports(1)[0]))
            held.append(holder)
    return held


class RunningJob:
    """A job, whose folder is `folder/run`, and the processes of its tasks.

    Args:
      folder: of the test; the working folder of all processes.
      words: the command of every task; `--model_dir` is added.
      environment: variables beside those that find the plugin.
      **job: fields of `Job`.

    Attributes:
      model_dir: the folder of the run.
      exit_codes: task -> exit code, of the processes that have ended.
      end_times: task -> when the end of its process was seen, seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        words: Iterable[str] = WORDS,
        *,
        environment: dict[str, str] | None = None,
        **job: Any,
    ) -> None:
        self._folder = folder
        self.model_dir = folder / "run"
        words = [*words, "--model_dir", str(self.model_dir)]
        self.job = Job(words=words, model_dir=str(self.model_dir), **job)
        self.names = [str(task) for task in self.job.tasks]
        # Until a task starts no other test gets its port, where a server would answer in its place.
        self._held = dict(zip(self.names, held_ports(len(self.names)), strict=True))
        ports = [port.getsockname()[1] for port in self._held.values()]
        addresses = {
            task: f"127.0.0.1:{port}" for task, port in zip(self.job.tasks, ports, strict=True)
        }
        self._environment = environment_of(folder) | (environment or {})
        self._configs = {str(task): tf_config(task, addresses) for task in self.job.tasks}
        self._processes: dict[str, subprocess.Popen[Any]] = {}
        self.exit_codes: dict[str, int] = {}
        self.end_times: dict[str, float] = {}

    def __enter__(self) -> RunningJob:
        return self

    def __exit__(self, *error: Any) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()
        for port in self._held.values():
            port.close()
        if error[0] is not None:
            print(self.logs())

    def start(self, *names: str, more: Iterable[str] = ()) -> None:
        """Starts tasks, by default all; one that ran before gets the same port again.

        Args:
          *names: such as `worker-0`.
          more: words after those of the job.
        """
        for name in names or self.names:
            assert name not in self._processes, f"{name} runs"
            self.exit_codes.pop(name, None)
            self._held[name].close()
            with open(self._log(name), "a") as log:
                self._processes[name] = forked.Popen(
                    [sys.executable, "-m", "tf_frame", *self.job.words, *more],
                    env=self._environment | {"TF_CONFIG": self._configs[name]},
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

    def send(self, signum: int, *names: str) -> None:
        """Sends a signal to tasks, by default all."""
        self._poll()
        for name in names or tuple(self._processes):
            self._processes[name].send_signal(signum)

    def kill(self, *names: str) -> None:
        """Ends tasks by SIGKILL, by default all at once, and waits until they are gone."""
        names = names or tuple(self._processes)
        self.send(signal.SIGKILL, *names)
        for name in names:
            self._processes.pop(name).wait()

    def wait(self, *names: str, secs: float = END_SECS) -> list[int]:
        """Waits for tasks, by default all, to end by themselves; returns their exit codes."""
        names = names or tuple(self.names)
        deadline = time.monotonic() + secs
        while any(name in self._processes for name in names):
            self._poll()
            left = [name for name in names if name in self._processes]
            assert time.monotonic() < deadline, f"not ended within {secs} s: {left}"
            time.sleep(_LOOK_SECS)
        return [self.exit_codes[name] for name in names]

    def ended_well(self, secs: float = END_SECS) -> None:
        """Checks that all tasks end with exit code 0."""
        codes = self.wait(secs=secs)
        assert codes == [0] * len(codes), dict(zip(self.names, codes, strict=True))

    def log(self, name: str) -> str:
        """Output of a task, all its processes after each other."""
        with contextlib.suppress(FileNotFoundError):
            return self._log(name).read_text()
        return ""

    def logs(self) -> str:
        """Output of all tasks, for the message of a test that fails."""
        return "\n".join(f"==== {name}\n{self.log(name)}" for name in self.names)

    def wait_for_line(self, name: str, text: str, secs: float = START_SECS) -> None:
        """Waits until a task that runs has printed a text."""
        self._wait_for(lambda: text in self.log(name), f"{text!r} of {name}", secs)

    def wait_for_checkpoint(self, step: int, secs: float = START_SECS) -> None:
        """Waits until there is a checkpoint of this step or a later one."""
        self._wait_for(lambda: self.newest_step() >= step, f"checkpoint {step}", secs)

    def newest_step(self) -> int:
        """The step of the newest checkpoint, -1 without one."""
        return newest_step(self.model_dir)

    def variables(self, step: int | None = None) -> dict[str, Any]:
        """Name -> value of all that the checkpoint of a step holds, by default the newest one."""
        step = self.newest_step() if step is None else step
        return checkpoint_values(self.model_dir / f"model.ckpt-{step}")

    def status(self, name: str) -> TaskStatus:
        """The last status of a task."""
        return next(s for s in read_statuses(str(self.model_dir)) if s.task == name)

    def secs_to_last_exit(self) -> float:
        """Seconds from the chief's last step to the end of the last task."""
        return max(self.end_times.values()) - self.status("chief-0").time

    def _wait_for(self, condition: Callable[[], Any], what: str, secs: float) -> None:
        def checked() -> bool:
            self._poll()
            failed = {name: code for name, code in self.exit_codes.items() if code}
            assert not failed, f"ended before {what}: {failed}"
            return bool(condition())

        wait_for(checked, what, secs)

    def _poll(self) -> None:
        for name, process in list(self._processes.items()):
            if process.poll() is not None:
                self.exit_codes[name] = process.returncode
                self.end_times[name] = time.time()
                del self._processes[name]

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def joint_job(folder: Path, kind: str, *, num_workers: int = 2) -> RunningJob:
    """A job of `JOINT_JOBS`, whose end depends on nothing but the number of workers."""
    num_ps, more = JOINT_JOBS[kind]
    return RunningJob(folder, (*JOINT_WORDS, *more), num_ps=num_ps, num_workers=num_workers)


def newest_step(model_dir: Path) -> int:
    """The step of the newest checkpoint of a folder, -1 without one."""
    names = [path.name for path in model_dir.glob("model.ckpt-*.index")]
    return max((int(re.findall(r"\d+", name)[0]) for name in names), default=-1)


def checkpoint_values(path: Path) -> dict[str, Any]:
    """Name -> value of all that a checkpoint holds."""
    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def run_alone(folder: Path, words: Iterable[str]) -> dict[str, Any]:
    """The values of the last checkpoint of a single process."""
    model_dir = folder / "alone"
    done = forked.run(
        [sys.executable, "-m", "tf_frame", *words, "--model_dir", str(model_dir)],
        env=environment_of(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=END_SECS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return checkpoint_values(Path(tf.train.latest_checkpoint(str(model_dir))))


def assert_same(one: dict[str, Any], other: dict[str, Any], *, atol: float = 0.0) -> None:
    """Checks that checkpoints hold the same values, to the last bit unless `atol` is given.

    A position in the input may hold more or fewer elements that were read ahead; and a worker may
    have counted the batch of the next step, as another one saved.
    """
    assert one.keys() == other.keys()
    for name in one:
        if name == "seen" or re.fullmatch(r"input_position/(worker_\d+/)?\d+", name):
            continue
        if atol and np.issubdtype(np.asarray(one[name]).dtype, np.floating):
            np.testing.assert_allclose(one[name], other[name], rtol=0, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)
