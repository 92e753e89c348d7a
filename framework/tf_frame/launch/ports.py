"""Finds free TCP ports for the servers of a job on this machine."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
from pathlib import Path

from tf_frame.errors import TfFrameError

_LOWEST = 20000
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES_PER_PORT = 1000


def free_ports(count: int) -> list[int]:
    """Returns different ports that are free on all interfaces.

    They lie below the range that the system gives to outgoing connections: a task that is restarted
    must find its port free.

    Raises:
      TfFrameError: there are not enough free ports.
    """
    numbers = list(range(_LOWEST, _first_ephemeral()))
    # A separate generator: with the same seed, two jobs would choose the same ports.
    candidates = random.SystemRandom().sample(numbers, min(len(numbers), _TRIES_PER_PORT * count))
    ports = list(itertools.islice(filter(_is_free, candidates), count))
    if len(ports) < count:
        raise TfFrameError(
            f"{count} free TCP ports are needed from {numbers[0]} to {numbers[-1]}, and "
            f"{len(ports)} are there; end what listens on them"
        )
    return ports


def _first_ephemeral() -> int:
    with contextlib.suppress(OSError, ValueError):
        first = int(_EPHEMERAL_RANGE.read_text().split()[0])
        if first > _LOWEST + _TRIES_PER_PORT:
            return first
    return 32768  # Linux's; other systems begin later.


def _is_free(port: int) -> bool:
    # TensorFlow's servers listen on all interfaces.
    with socket.socket() as probe:
        # Connections that the last server closed must not keep the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True
