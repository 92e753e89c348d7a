"""The tasks of a job as real processes; a test starts them, kills them and waits for them.

    words = ("run", "--plugin", "line", "--max_steps", "20")
    with LocalJob(tmp_path, words, num_ps=1, num_workers=2) as job:
        job.start()
        job.wait_for_checkpoint(10)
        job.kill("worker-0")
        job.start("worker-0")
        job.ended_well()

Every wait has an end, and no process outlives the block. Nothing restarts a task but the test.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tf_frame.checkpoint.names import INDEX, checkpoint_path, checkpoint_prefix, step_in_path
from tf_frame.cluster.status import TaskStatus, read_statuses
from tf_frame.launch.job import Job, tf_config
from tf_frame.testing.ports import held_ports

START_SECS, END_SECS = 40.0, 40.0
_LOOK_SECS = 0.02


def wait_for(condition: Callable[[], Any], description: object, secs: float = START_SECS) -> Any:
    """Waits until a condition is true, and returns its value.

    Args:
      condition: called every 0.02 s, until its value is true.
      description: what the condition waits for, for the message of the error.
      secs: seconds to wait at most.

    Raises:
      AssertionError: the condition is still false after `secs`.
    """
    deadline = time.monotonic() + secs
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {secs} s: {description}"
        time.sleep(_LOOK_SECS)
    return value


def newest_step(model_dir: Path) -> int:
    """Returns the global step of the newest checkpoint of a folder; -1 without one.

    Args:
      model_dir: the folder.
    """
    steps = [step_in_path(checkpoint_prefix(path.name)) for path in model_dir.glob(f"*{INDEX}")]
    return max((step for step in steps if step is not None), default=-1)


def checkpoint_values(path: Path | str) -> dict[str, Any]:
    """Returns name -> value, a NumPy array, of everything in a checkpoint.

    Args:
      path: path prefix of the checkpoint, or a folder, for its newest checkpoint.

    Raises:
      ValueError: the folder has no checkpoint.
      tf.errors.OpError: the checkpoint cannot be read, or does not exist.
    """
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


class LocalJob:
    """A job in the folder `folder/run`, and the processes of its tasks.

    Args:
      folder: the folder of the test, and the current folder of all processes.
      words: the command of every task, `run --plugin NAME ...`; `--model_dir` is added.
      environment: variables in addition to the variables of this process.
      popen: starts a process as `subprocess.Popen` does.
      **job: fields of `tf_frame.launch.job.Job`: `num_ps`, `num_workers`, `evaluator`.

    Attributes:
      model_dir: the folder of the run.
      exit_codes: task -> exit code, of the processes that have ended.
      end_times: task -> when the end of its process was seen, seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        words: Iterable[str],
        *,
        environment: Mapping[str, str] | None = None,
        popen: Callable[..., subprocess.Popen[Any]] = subprocess.Popen,
        **job: Any,
    ) -> None:
        self._folder = folder
        self.model_dir = folder / "run"
        words = [*words, "--model_dir", str(self.model_dir)]
        self.job = Job(words=words, model_dir=str(self.model_dir), **job)
        self.names = [str(task) for task in self.job.tasks]
        # Until a task starts no other test gets its port, or a wrong server would answer.
        self._held = dict(zip(self.names, held_ports(len(self.names)), strict=True))
        ports = [port.getsockname()[1] for port in self._held.values()]
        addresses = {
            task: f"127.0.0.1:{port}" for task, port in zip(self.job.tasks, ports, strict=True)
        }
        self._environment, self._popen = {**os.environ, **(environment or {})}, popen
        self._configs = {str(task): tf_config(task, addresses) for task in self.job.tasks}
        self._processes: dict[str, subprocess.Popen[Any]] = {}
        self.exit_codes: dict[str, int] = {}
        self.end_times: dict[str, float] = {}

    def __enter__(self) -> LocalJob:
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
          more: words after the words of the job.

        Raises:
          AssertionError: a task is already running.
        """
        for name in names or self.names:
            assert name not in self._processes, f"{name} runs"
            self.exit_codes.pop(name, None)
            self._held[name].close()
            with open(self._log(name), "a") as log:
                self._processes[name] = self._popen(
                    [sys.executable, "-m", "tf_frame", *self.job.words, *more],
                    env=self._environment | {"TF_CONFIG": self._configs[name]},
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

    def send(self, signum: int, *names: str) -> None:
        """Sends a signal to tasks.

        Args:
          signum: number of the signal, such as `signal.SIGTERM`.
          *names: such as `worker-0`; none: all that run.

        Raises:
          KeyError: a task does not run.
        """
        self._poll()
        for name in names or tuple(self._processes):
            self._processes[name].send_signal(signum)

    def kill(self, *names: str) -> None:
        """Ends tasks by SIGKILL, and waits until they are gone.

        Args:
          *names: such as `worker-0`; none: all.

        Raises:
          KeyError: a task does not run.
        """
        names = names or tuple(self._processes)
        self.send(signal.SIGKILL, *names)
        for name in names:
            self._processes.pop(name).wait()

    def wait(self, *names: str, secs: float = END_SECS) -> list[int]:
        """Waits for tasks to end by themselves; returns their exit codes.

        Args:
          *names: such as `worker-0`; none: all.
          secs: seconds to wait at most.

        Raises:
          AssertionError: a task still runs after `secs`.
          KeyError: a task was not started, or `kill` ended it.
        """
        names = names or tuple(self.names)
        deadline = time.monotonic() + secs
        while any(name in self._processes for name in names):
            self._poll()
            running = [name for name in names if name in self._processes]
            assert time.monotonic() < deadline, f"not ended within {secs} s: {running}"
            time.sleep(_LOOK_SECS)
        return [self.exit_codes[name] for name in names]

    def ended_well(self, secs: float = END_SECS) -> None:
        """Waits for all tasks to end, and checks that their exit codes are 0.

        Args:
          secs: seconds to wait at most.

        Raises:
          AssertionError: a task still runs after `secs`, or ends with another exit code.
          KeyError: a task was not started, or `kill` ended it.
        """
        codes = self.wait(secs=secs)
        assert codes == [0] * len(codes), dict(zip(self.names, codes, strict=True))

    def log(self, name: str) -> str:
        """Returns the output of a task, from all its processes.

        Args:
          name: such as `worker-0`.
        """
        with contextlib.suppress(FileNotFoundError):
            return self._log(name).read_text()
        return ""

    def logs(self) -> str:
        """Returns the output of all tasks, for the message of a failing test."""
        return "\n".join(f"==== {name}\n{self.log(name)}" for name in self.names)

    def wait_for_checkpoint(self, step: int, secs: float = START_SECS) -> None:
        """Waits until there is a checkpoint of a global step or a later one.

        Args:
          step: the global step.
          secs: seconds to wait at most.

        Raises:
          AssertionError: there is none after `secs`, or a task ended with an exit code other
            than 0.
        """
        self._wait_for(lambda: self.newest_step() >= step, f"checkpoint {step}", secs)

    def newest_step(self) -> int:
        """Returns the step of the newest checkpoint; -1 without one."""
        return newest_step(self.model_dir)

    def variables(self, step: int | None = None) -> dict[str, Any]:
        """Returns name -> value of the checkpoint of a step, by default the newest one.

        Raises:
          tf.errors.OpError: the checkpoint cannot be read, or does not exist.
        """
        step = self.newest_step() if step is None else step
        return checkpoint_values(checkpoint_path(self.model_dir, step))

    def status(self, name: str) -> TaskStatus:
        """Returns the last status of a task.

        Args:
          name: such as `worker-0`.

        Raises:
          StopIteration: the task has written no status.
        """
        return next(s for s in read_statuses(str(self.model_dir)) if s.task == name)

    def secs_to_last_exit(self) -> float:
        """Returns the seconds from the chief's last step to the end of the last task."""
        return max(self.end_times.values()) - self.status("chief-0").time

    def _wait_for(self, condition: Callable[[], Any], description: str, secs: float) -> None:
        def checked() -> bool:
            self._poll()
            failed = {name: code for name, code in self.exit_codes.items() if code}
            assert not failed, f"ended before {description}: {failed}"
            return bool(condition())

        wait_for(checked, description, secs)

    def _poll(self) -> None:
        for name, process in list(self._processes.items()):
            if process.poll() is not None:
                self.exit_codes[name] = process.returncode
                self.end_times[name] = time.time()
                del self._processes[name]

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"
