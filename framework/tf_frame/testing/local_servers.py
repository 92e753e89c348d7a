"""Starts the `tf.train.Server`s of a cluster as processes on loopback, for graphs of several tasks.

For jobs of `tf-frame run` see `local_job`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.testing.local_job import wait_for
from tf_frame.testing.ports import free_ports

_SERVER = """
import sys, json
import tensorflow.compat.v1 as tf
cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tf.train.Server(cluster, job_name=job, task_index=task).join()
"""


@contextlib.contextmanager
def local_servers(
    *,
    num_ps: int = 1,
    num_workers: int = 2,
    popen: Callable[..., subprocess.Popen[Any]] = subprocess.Popen,
) -> Iterator[list[str]]:
    """Starts the servers; yields the targets of the workers, and ends them after the block.

    Args:
      num_ps, num_workers: number of parameter servers and of workers.
      popen: starts a process as `subprocess.Popen` does.

    Raises:
      AssertionError: a server ended, or did not listen in time.
    """
    ports = free_ports(num_ps + num_workers)
    hosts = [f"127.0.0.1:{port}" for port in ports]
    jobs = {"ps": hosts[:num_ps], "worker": hosts[num_ps:]}
    spec = json.dumps({job: addresses for job, addresses in jobs.items() if addresses})
    with contextlib.ExitStack() as stack:
        servers = []
        for job, addresses in jobs.items():
            for task in range(len(addresses)):
                words = [sys.executable, "-c", _SERVER, spec, job, str(task)]
                server = popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                stack.callback(server.wait)
                stack.callback(server.kill)  # Called before the wait.
                servers.append(server)
        for server, port in zip(servers, ports, strict=True):
            wait_for(functools.partial(_listens, server, port), f"a server at port {port}")
        yield [f"grpc://{host}" for host in jobs["worker"]]


def _listens(server: subprocess.Popen[Any], port: int) -> bool:
    assert server.poll() is None, f"the server at port {port} ended"
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
