"""`Cluster`: the task of this process in a job, whether it is the chief, and its server.

Training asks it who initialises, saves and writes summaries: the chief alone, or workers would
overwrite each other's files. `wait_for_server` reports a server that is missing, for which
TensorFlow would wait for ever without a message.
"""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Callable

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import TfFrameError

_TRY_SECS = 1.0


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The task of this process in a job: a worker, or a single process.

    Attributes:
      task_id: number of this worker.
      num_workers: number of workers that train together.
      num_ps_tasks: number of tasks that hold variables; 0 keeps variables on this machine.
      target: the session target; empty for a session in this process.
      job: job and task of this worker's server (`chief/task:0`); default: `worker` and
        its `task_id`.
    """

    task_id: int = 0
    num_workers: int = 1
    num_ps_tasks: int = 0
    target: str = ""
    job: str = ""

    @property
    def is_chief(self) -> bool:
        """True if this task initialises and restores variables, saves and writes summaries."""
        return self.task_id == 0

    @property
    def worker_job(self) -> str:
        """The job of this worker, with its task if it has a server."""
        if not self.target:
            return "worker"
        return self.job or f"worker/task:{self.task_id}"


def cluster_of(config: RunOptions) -> Cluster:
    """Reads the cluster from the run options, like slim's trainers.

    The servers are started elsewhere; `--master` names the server of this worker.
    """
    return Cluster(config.task, config.worker_replicas, config.num_ps_tasks, config.master)


def wait_for_server(
    target: str,
    *,
    timeout_secs: float,
    report: Callable[[str], None],
    check: Callable[[], None],
) -> None:
    """Waits until something listens at a server's address.

    TensorFlow would wait for ever, without a message and without reacting to signals.

    Args:
      target: `grpc://HOST:PORT`.
      timeout_secs: seconds to wait at most.
      report: takes a line for the user if the server does not listen yet.
      check: called between tries; may raise to stop waiting.

    Raises:
      TfFrameError: nothing listens there in time.
    """
    host, port = target.removeprefix("grpc://").rsplit(":", 1)
    deadline = time.monotonic() + timeout_secs
    waiting = False
    while not _listens(host, int(port)):
        check()
        if time.monotonic() > deadline:
            raise TfFrameError(
                f"no server listens at {target} (waited {timeout_secs:g} s); start it, or "
                "correct --master"
            )
        if not waiting:
            report(f"waiting for the server at {target} ...")
            waiting = True
        time.sleep(_TRY_SECS)


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_TRY_SECS):
            return True
    except OSError:
        return False
