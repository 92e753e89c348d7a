"""Finds free TCP ports for the servers of a job on this machine, and keeps them for the job."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path

from tf_frame.errors import TfFrameError

_LOWEST = 20000
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES_PER_PORT = 1000


@contextlib.contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """Yields different ports that are free on all interfaces; no other job gets them in the block.

    They lie below the range that the system gives to outgoing connections: a task that is restarted
    must find its port free. Until the end of the block each port has a socket that does not listen.
    A server of TensorFlow can use the port nevertheless, as it sets `SO_REUSEADDR`.

    Raises:
      TfFrameError: there are not enough free ports.
    """
    numbers = list(range(_LOWEST, _first_ephemeral()))
    # A separate generator: with the same seed, two jobs would choose the same ports.
    candidates = random.SystemRandom().sample(numbers, min(len(numbers), _TRIES_PER_PORT * count))
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while candidates and len(ports) < count:
            port = candidates.pop()
            if _reserve(port, stack):
                ports.append(port)
        if len(ports) < count:
            raise TfFrameError(
                f"{count} free TCP ports are needed from {numbers[0]} to {numbers[-1]}, and "
                f"{len(ports)} are there; end what listens on them"
            )
        yield ports


def free_ports(count: int) -> list[int]:
    """Returns different ports that are free on all interfaces now; see `reserved_ports`.

    Args:
      count: number of ports.

    Raises:
      TfFrameError: there are not enough free ports.
    """
    with reserved_ports(count) as ports:
        return ports


def _first_ephemeral() -> int:
    with contextlib.suppress(OSError, ValueError):
        first = int(_EPHEMERAL_RANGE.read_text().split()[0])
        if first > _LOWEST + _TRIES_PER_PORT:
            return first
    return 32768  # Linux's; other systems begin later.


def _reserve(port: int, stack: contextlib.ExitStack) -> bool:
    """Binds a socket to a port on all interfaces until the stack ends; False if it is in use."""
    holder = stack.enter_context(socket.socket())
    try:
        holder.bind(("", port))
    except OSError:
        holder.close()
        return False
    # Set after `bind`, which would else share the port with the holder of another job.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return True
