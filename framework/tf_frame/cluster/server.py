"""Starts the TensorFlow server of a task; a parameter server runs until the chief ends the job.

`Server.join()` of TensorFlow blocks for ever, so that a scheduler must kill parameter servers. Here
each parameter server reads commands from a queue. When the last checkpoint is saved, the chief
sends the command that ends the server.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.cluster import Cluster
from tf_frame.cluster.listening import confine
from tf_frame.errors import TfFrameError
from tf_frame.types import Session

# Sent by the chief: the job has ended; the chief has saved and stopped because of a signal.
LEAVE, STOPPED = b"leave", b"stopped"
_QUEUE = "tf_frame/commands"
_LOOK_SECS = 1.0
# A scheduler kills a task about 30 s after SIGTERM; by then the chief has saved.
_GRACE_SECS = 25.0
_SEND_MS = 3000
_JOIN_SECS = 5.0
_SERVERS: dict[tuple[str, str], Any] = {}
# Options of mallopt(3), and the environment variables that configure malloc.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MALLOC_VARIABLES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
_KEPT_BYTES = 2**30
# Environment variables: proxies for all protocols; hosts that gRPC reaches without a proxy (gRPC
# reads the first variable that is set); the proxy for gRPC alone.
_PROXIES = ("https_proxy", "http_proxy")
_GRPC_EXCEPTIONS, _EXCEPTIONS = "no_grpc_proxy", "no_proxy"
_GRPC_PROXY = "grpc_proxy"


def start_server(cluster: Cluster, config: Any) -> Any:
    """Starts and returns the server of this task, once in a process; a server cannot be stopped.

    The `ConfigProto` has devices, threads and gRPC options of the server.

    Raises:
      TfFrameError: the port is not free.
    """
    job, _, index = _own_job(cluster).partition("/task:")
    address = cluster.jobs[job][int(index)]
    key = (address, f"{job}/{index}")
    if key not in _SERVERS:
        keep_freed_memory()
        # Without this, TensorFlow waits for ever for a lost server when it opens or closes a
        # session. Tasks that need a server wait with `wait_for_servers`.
        os.environ.setdefault("GRPC_FAIL_FAST", "true")
        bypass_proxy([address for tasks in cluster.jobs.values() for address in tasks.values()])
        spec = tf.train.ClusterSpec({name: dict(tasks) for name, tasks in cluster.jobs.items()})
        try:
            _SERVERS[key] = confined_server(spec, job, int(index), config)
        except tf.errors.UnknownError as error:
            raise TfFrameError(
                f"{cluster.task_name} cannot start its server at {address}: {error.message}; "
                "does another program listen at this port, or another process of this task?"
            ) from None
    return _SERVERS[key]


def confined_server(spec: Any, job: str, task: int, config: Any, protocol: Any = None) -> Any:
    """Starts and returns a `tf.train.Server` that listens at the interface of its task alone.

    The arguments are those of `tf.train.Server`; for errors of tf-frame see `listening.confine`.
    """
    server = tf.train.Server(spec, job, task, protocol=protocol, config=config, start=False)
    confine(server)
    server.start()
    return server


def keep_freed_memory() -> None:
    """Makes glibc keep up to 1 GiB of freed memory for this process.

    A step allocates each tensor that it receives, and fresh memory costs a page fault for every 4
    KiB: about a third of the processor time of a step. Nothing is changed if an environment
    variable configures malloc, or if the C library is not glibc.
    """
    option = getattr(ctypes.CDLL(None), "mallopt", None)
    if option is not None and not any(name in os.environ for name in _MALLOC_VARIABLES):
        option(_MMAP_THRESHOLD, _KEPT_BYTES)
        option(_TRIM_THRESHOLD, _KEPT_BYTES)


def bypass_proxy(addresses: Iterable[str]) -> None:
    """Makes gRPC connect this process with the tasks of its job without the proxy of the web.

    Such a proxy does not pass connections of gRPC on, and gRPC would try again for ever without a
    message. A proxy that `grpc_proxy` names stays in use. The addresses are `HOST:PORT`.
    """
    if os.environ.get(_GRPC_PROXY) or not any(os.environ.get(name) for name in _PROXIES):
        return
    exceptions = os.environ.get(_GRPC_EXCEPTIONS, os.environ.get(_EXCEPTIONS, ""))
    hosts = [address.rpartition(":")[0].strip("[]") for address in addresses]
    names = dict.fromkeys(name for name in [*exceptions.split(","), *hosts] if name)
    os.environ[_GRPC_EXCEPTIONS] = ",".join(names)


def _own_job(cluster: Cluster) -> str:
    return f"ps/task:{cluster.task_id}" if cluster.role == "ps" else cluster.worker_job


def serve(
    server: Any,
    *,
    signalled: Callable[[], object] = lambda: False,
    alive: Callable[[], None] = lambda: None,
    obey: Callable[[bytes], None] = lambda command: None,
) -> bool:
    """Holds variables until the chief ends the job.

    After a signal the server stays until the chief has saved, 25 seconds at most.

    Args:
      server: the `tf.train.Server` of this parameter server.
      signalled: whether a signal asks this task to end.
      alive: called every second.
      obey: called with every command of the chief but `LEAVE` and `STOPPED`.

    Returns:
      True if the chief ended the job, False if a signal ended this task.
    """
    commands: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    receiver = threading.Thread(target=_receive, args=(server, commands), daemon=True)
    receiver.start()
    try:
        return _wait_for_end(commands, signalled, alive, obey)
    finally:
        _close_commands(server)
        # A thread that returns from TensorFlow while the interpreter ends aborts the process.
        receiver.join(_JOIN_SECS)


def _wait_for_end(
    commands: queue.SimpleQueue[bytes],
    signalled: Callable[[], object],
    alive: Callable[[], None],
    obey: Callable[[bytes], None],
) -> bool:
    deadline, stopped_at = float("inf"), float("-inf")
    while time.monotonic() < deadline:
        with contextlib.suppress(queue.Empty):
            command = commands.get(timeout=_LOOK_SECS)
            if command == LEAVE:
                return True
            if command == STOPPED:
                stopped_at = time.monotonic()
            else:
                obey(command)
        if signalled():
            deadline = min(deadline, time.monotonic() + _GRACE_SECS)
            if time.monotonic() < stopped_at + _GRACE_SECS:
                return False
        alive()
    return False


def _receive(server: Any, commands: queue.SimpleQueue[bytes]) -> None:
    with _session(server.target, [_task(server)]) as session:
        received = _commands().dequeue()
        while True:  # Until `_close_commands`.
            commands.put(session.run(received))


def _close_commands(server: Any) -> None:
    with _session(server.target, [_task(server)]) as session:
        session.run(_commands().close(cancel_pending_enqueues=True))


def _task(server: Any) -> str:
    return f"/job:{server.server_def.job_name}/task:{server.server_def.task_index}"


@contextlib.contextmanager
def _session(target: str, tasks: list[str], timeout_ms: int = 0) -> Iterator[Session]:
    """A session of some tasks with a new graph; an error of TensorFlow ends the block, silently."""
    config = tf.ConfigProto(device_filters=tasks, operation_timeout_in_ms=timeout_ms)
    with (
        contextlib.suppress(tf.errors.OpError),
        tf.Graph().as_default(),
        tf.Session(target, config=config) as session,
    ):
        yield session


def _commands() -> Any:
    return tf.FIFOQueue(-1, tf.string, shapes=[[]], shared_name=_QUEUE)


def send_to_ps(cluster: Cluster, command: bytes) -> None:
    """Lets the chief send a command to every parameter server that can be reached.

    The command is `LEAVE`, `STOPPED`, or a command for the argument `obey` of `serve`.
    """
    for task in range(cluster.num_ps_tasks):
        ps = f"/job:ps/task:{task}"
        # A parameter server may have died while the job ended.
        with _session(cluster.target, [ps, f"/job:{cluster.worker_job}"], _SEND_MS) as session:
            with tf.device(f"{ps}/device:CPU:0"):
                sent = _commands().enqueue(command)
            session.run(sent)
