"""Sockets of processes of this machine, and what is reached from outside."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

_LISTENS = "0A"


def outer_address() -> str | None:
    """The address of the network card; None on a machine that has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("203.0.113.1", 9))  # For documentation: RFC 5737. Nothing is sent.
        return str(probe.getsockname()[0])
    return None


def answers(host: str, port: int) -> bool:
    """Returns whether a connection is taken."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=2):
        return True
    return False


def listening_ports(pid: int) -> set[int]:
    """Returns the ports at which a process and its descendants listen."""
    own = {inode for each in _family(pid) for inode in _sockets(each)}
    return {port for port, inode in _listeners() if inode in own}


def _family(pid: int) -> list[int]:
    parents = dict(_parents())
    family = [pid]
    for member in family:  # It grows meanwhile.
        family += [child for child, parent in parents.items() if parent == member]
    return family


def _parents() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8") as file:
            yield int(name), int(file.read().rpartition(")")[2].split()[1])


def _sockets(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError):  # It has ended.
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                kind, _, inode = os.readlink(f"/proc/{pid}/fd/{name}").partition(":")
                if kind == "socket":
                    yield inode.strip("[]")


def _listeners() -> Iterator[tuple[int, str]]:
    """Yields port and inode of every listening socket of this machine: proc(5)."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(FileNotFoundError), open(table, encoding="utf-8") as lines:
            for fields in map(str.split, lines):
                if fields[3] == _LISTENS:
                    yield int(fields[1].rpartition(":")[2], 16), fields[9]
