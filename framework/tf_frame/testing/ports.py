"""Finds free TCP ports for servers in tests, because a fixed port may be in use.

`tf_frame.launch.ports` chooses ports outside of the system's range for outgoing connections. Else
a connection of another test could take the port before the server listens.
"""

from __future__ import annotations

import contextlib
import socket

from tf_frame.launch.ports import free_ports

__all__ = ["free_ports", "held_ports"]


def held_ports(count: int) -> list[socket.socket]:
    """Takes free ports without listening: connections are refused, `free_ports` leaves them out.

    Args:
      count: number of ports.

    Returns:
      A bound socket for each port; the caller closes them.

    Raises:
      TfFrameError: there are not enough free ports.
    """
    holders: list[socket.socket] = []
    while len(holders) < count:
        holder = socket.socket()
        # A port that had connections a minute ago counts as free, but cannot be held.
        with contextlib.suppress(OSError):
            holder.bind(("", free_ports(1)[0]))
            holders.append(holder)
    return holders
