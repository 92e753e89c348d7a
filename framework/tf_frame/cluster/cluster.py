"""`Cluster`: the task of this process in a job, whether it is the chief, and the servers.

Only the chief initialises, saves and writes summaries: otherwise workers would overwrite each
other's files. `wait_for_servers` reports missing servers; TensorFlow would wait for them for ever,
without a message.
"""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Callable, Sequence

from tf_frame.cluster.tf_config import ClusterConfig, Jobs, TaskType
from tf_frame.errors import TfFrameError

_TRY_SECS = 0.2
_CONNECT_SECS = 1.0
# An HTTP/2 client begins with these bytes and an empty SETTINGS frame; the answer of a gRPC server
# begins with a SETTINGS frame, too: RFC 9113, sections 3.4, 4.1 and 6.5.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
_FRAME_HEAD_BYTES, _FRAME_TYPE, _SETTINGS = 9, 3, 4
_ABSENT = "no server listens at"
_SILENT = "something listens, but no TensorFlow server answers at"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The task of this process in a job: a worker, a server, an evaluator, or a single process.

    Attributes:
      task_id: number of this worker.
      num_workers: number of workers that train together.
      num_ps_tasks: number of tasks that hold variables; 0 keeps variables on this machine.
      target: the session target; empty for a session in this process.
      job: job and task of this worker's server (`chief/task:0`); default: `worker` and
        its `task_id`.
      role: `worker` for a task that trains, else `ps` or `evaluator`.
      jobs: job -> task -> address; empty if servers are started elsewhere.
      leads: whether this task is the chief; None: worker 0 is.
      meeting: the number of the meeting that chose the tasks (`cluster.meeting`); 0: none did, and
        the number of tasks does not change.
    """

    task_id: int = 0
    num_workers: int = 1
    num_ps_tasks: int = 0
    target: str = ""
    job: str = ""
    role: str = TaskType.WORKER
    jobs: Jobs = dataclasses.field(default_factory=dict, hash=False)
    leads: bool | None = None
    meeting: int = 0

    @property
    def is_chief(self) -> bool:
        """True if this task initialises and restores variables, saves and writes summaries."""
        if self.leads is not None:
            return self.leads
        return self.role == TaskType.WORKER and self.task_id == 0

    @property
    def has_several_tasks(self) -> bool:
        """True if this task trains together with other tasks, through servers."""
        return bool(self.target) and (self.num_workers > 1 or self.num_ps_tasks > 0)

    @property
    def all_reduces(self) -> bool:
        """True if each of several workers holds all variables, and they all-reduce gradients."""
        return self.num_workers > 1 and not self.num_ps_tasks

    @property
    def worker_job(self) -> str:
        """The job of this worker, with its task if it has a server."""
        if not self.target:
            return "worker"
        return self.job or f"worker/task:{self.task_id}"

    @property
    def chief_job(self) -> str:
        """The job and task of the chief's server."""
        leader = next((j for j in (TaskType.CHIEF, TaskType.MASTER) if j in self.jobs), None)
        return f"{leader or TaskType.WORKER}/task:0"

    @property
    def collective_leader(self) -> str:
        """The task that leads collectives, as a server's `ConfigProto` names it."""
        return "/job:" + self.chief_job.replace("/task:", "/replica:0/task:")

    @property
    def host(self) -> str:
        """Job and task of the server with the shared values of the tasks: `/job:ps/task:0`."""
        return "/job:ps/task:0" if self.num_ps_tasks else f"/job:{self.chief_job}"

    @property
    def task_name(self) -> str:
        """Name of this task in folders and messages: `chief-0`, `worker-1` ..."""
        if self.role != TaskType.WORKER:
            return f"{self.role}-{self.task_id}"
        if self.is_chief:
            return "chief-0"
        return self.worker_job.replace("/task:", "-")

    @property
    def profiled_task(self) -> str:
        """Name of this worker in profiles, like its devices: `chief_0`; alone `worker_0`."""
        job, _, index = self.worker_job.partition("/task:")
        return f"{job}_{index or self.task_id}"

    @property
    def peers(self) -> Sequence[str]:
        """Jobs and tasks, as device filters, of the training session.

        Without the other workers: a session then waits for none of them.
        """
        return [*(["/job:ps"] if self.num_ps_tasks else []), f"/job:{self.worker_job}"]

    def addresses(self) -> list[str]:
        """The addresses of the servers that this task needs before it has a session."""
        ps = self.jobs.get(TaskType.PS, {})
        all_addresses = [address for tasks in self.jobs.values() for address in tasks.values()]
        needed = list(ps.values()) if self.num_ps_tasks else all_addresses
        own_server = [self.target.removeprefix("grpc://")] if self.target else []
        return list(dict.fromkeys([*own_server, *needed]))


def cluster_from_tf_config(place: ClusterConfig) -> Cluster:
    """Returns the `Cluster` of a task of TF_CONFIG."""
    if place.task_type in (TaskType.PS, TaskType.EVALUATOR):
        role, task_id = place.task_type, place.task_id
    else:
        role = TaskType.WORKER
        task_id = int(place.run_options().get("task", 0))
    return Cluster(
        task_id=task_id,
        num_workers=max(1, place.num_workers),
        num_ps_tasks=place.num_ps,
        target=place.master,
        job=f"{place.task_type}/task:{place.task_id}" if place.cluster else "",
        role=role,
        jobs={job: dict(t) for job, t in place.cluster.items() if job != TaskType.EVALUATOR},
    )


def wait_for_servers(
    addresses: Sequence[str],
    *,
    timeout_secs: float,
    report: Callable[[str], None],
    check: Callable[[], None],
    error_class: type[TfFrameError] = TfFrameError,
) -> None:
    """Waits until a gRPC server answers at each address.

    TensorFlow would wait for ever, without a message and without a reaction to signals, also if
    another program listens at the address.

    Args:
      addresses: `HOST:PORT` each.
      timeout_secs: seconds to wait at most.
      report: takes a line for the user if a server does not answer yet.
      check: called between tries; may raise to stop waiting.
      error_class: the class of the error.

    Raises:
      TfFrameError: a server does not answer in time.
    """
    deadline = time.monotonic() + timeout_secs
    waiting = False
    while missing := {a: problem for a in addresses if (problem := _find_problem(a))}:
        check()
        if time.monotonic() > deadline:
            kinds = dict.fromkeys(missing.values())
            problems = ", and ".join(
                f"{kind} {', '.join(a for a in missing if missing[a] == kind)}" for kind in kinds
            )
            raise error_class(
                f"{problems} (waited {timeout_secs:g} s); start the task, or correct its address"
            )
        if not waiting:
            report(f"waiting for the server at {', '.join(missing)} ...")
            waiting = True
        time.sleep(_TRY_SECS)


def _find_problem(address: str) -> str:
    """Returns the reason why no server answers at an address; empty if a server answers."""
    host, port = address.removeprefix("grpc://").rsplit(":", 1)
    try:
        connection = socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS)
    except OSError:
        return _ABSENT
    with connection:
        try:
            connection.sendall(_HELLO)
            head = connection.recv(_FRAME_HEAD_BYTES, socket.MSG_WAITALL)
        except OSError:
            return _SILENT
    answers = len(head) == _FRAME_HEAD_BYTES and head[_FRAME_TYPE] == _SETTINGS
    return "" if answers else _SILENT
