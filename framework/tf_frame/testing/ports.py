"""Free TCP ports for servers in tests: a fixed port may be taken by another test or program."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int) -> list[int]:
    """Returns `count` different TCP ports that are now free on the loopback interface."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
