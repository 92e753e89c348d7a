"""Confines a TensorFlow server to the network interface that has the address of its task.

A server of TensorFlow 2.21 listens on all interfaces, whatever address the cluster has for its
task, and takes no option for it. Its listening sockets are files of this process, though, and Linux
lets a process bind its own sockets to an interface (`SO_BINDTODEVICE`, since 5.7 without root
rights).
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket
import stat
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.errors import TfFrameError

_LOG = logging.getLogger("tf_frame")
# Environment variable: an interface, or `all`; by default the address of the task decides.
LISTEN_ON, ALL = "TF_FRAME_LISTEN_ON", "all"
_LOOPBACK = "lo"
_PROBE_SECS = 1.0
_ESTABLISHED = "01"
_OPTION = getattr(socket, "SO_BINDTODEVICE", None)
_OPEN = "without authentication; docs/clusters/ports.md says how to close them"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def confine(server: Any) -> str:
    """Makes a server listen only at the interface of its task.

    Args:
      server: a `tf.train.Server` that is not started yet, so that it has answered nobody.

    Returns:
      The interface; empty if the server listens on all, which is warned of.

    Raises:
      TfFrameError: another machine connected in the moment before, or `TF_FRAME_LISTEN_ON` names no
        interface.
    """
    hosts, own = _hosts(server.server_def)
    interface, reason = _interface(hosts, own)
    port = int(server.target.rpartition(":")[2])
    if interface:
        reason = _bind(port, interface)
    if reason:
        where = f"the server at {own} listens on all interfaces"
        _LOG.warning("warning: %s, %s: %s", where, _OPEN, reason)
        return ""
    if interface == _LOOPBACK:
        _refuse_strangers(port)
    return interface


def _refuse_strangers(port: int) -> None:
    for address in _connected(port):
        if not address.is_loopback:
            raise TfFrameError(
                f"somebody has connected to {address}:{port} before the server listened on "
                f"{_LOOPBACK} alone; start the task again"
            )


def _hosts(definition: Any) -> tuple[list[str], str]:
    """Returns the hosts of all tasks, and the host of the task of a `ServerDef`."""
    jobs = {job.name: dict(job.tasks) for job in definition.cluster.job}
    host_of = {
        (job, index): address.rpartition(":")[0].strip("[]")
        for job, tasks in jobs.items()
        for index, address in tasks.items()
    }
    return list(host_of.values()), host_of[definition.job_name, definition.task_index]


def _interface(hosts: Sequence[str], own: str) -> tuple[str, str]:
    """Returns the interface for a server, and if there is none, the reason of a warning."""
    names = [name for _, name in socket.if_nameindex()]
    chosen = os.environ.get(LISTEN_ON, "")
    if chosen == ALL:
        return "", f"{LISTEN_ON}={ALL}"
    if chosen:
        if chosen not in names:
            raise TfFrameError(
                f"{LISTEN_ON}={chosen}: there is no such interface; there are {', '.join(names)}"
            )
        return chosen, ""
    if all(map(_is_loopback, hosts)):
        return _LOOPBACK, ""
    holders = [name for name in names if name != _LOOPBACK and _has_address(name, own)]
    if len(holders) == 1:
        return holders[0], ""
    return "", f"no single interface of this machine has the address {own}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_address(interface: str, host: str) -> bool:
    """Returns whether the addresses of a host reach this machine through an interface."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(_takes(interface, family, place) for family, *_, place in found)


def _takes(interface: str, family: int, place: tuple[Any, ...]) -> bool:
    """Returns whether a socket of an interface takes a connection to an address."""
    try:
        with socket.socket(family) as server, socket.socket(family) as client:
            server.setsockopt(socket.SOL_SOCKET, _OPTION or 0, interface.encode())
            server.bind(place)  # Fails for an address of another machine.
            server.listen()
            client.settimeout(_PROBE_SECS)
            client.connect(server.getsockname())
    except OSError:
        return False
    return True


def _bind(port: int, interface: str) -> str:
    """Binds the listeners at a port to an interface; returns the reason if this is impossible."""
    if _OPTION is None:
        return "this system cannot bind sockets to an interface"
    try:
        with contextlib.ExitStack() as stack:
            listeners = [stack.enter_context(own) for own in _listeners(port)]
            # A socket may have several numbers, and only root may bind it a second time.
            for listener in {os.fstat(own.fileno()).st_ino: own for own in listeners}.values():
                listener.setsockopt(socket.SOL_SOCKET, _OPTION, interface.encode())
    except OSError as error:  # A kernel before 5.7.
        return f"they cannot be bound to {interface} ({error.strerror})"
    return "" if listeners else "their socket was not found"


def _listeners(port: int) -> Iterator[socket.socket]:
    """Yields the sockets of this process that listen at a port, under further numbers."""
    for name in os.listdir("/proc/self/fd"):
        try:
            number = os.dup(int(name))
        except OSError:  # Closed meanwhile, such as that of the list.
            continue
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            os.close(number)
            continue
        found = socket.socket(fileno=number)
        if _listens(found, port):
            yield found
        else:
            found.close()


def _listens(found: socket.socket, port: int) -> bool:
    is_internet = found.family in (socket.AF_INET, socket.AF_INET6)
    accepts = is_internet and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return bool(accepts) and found.getsockname()[1] == port


def _connected(port: int) -> Iterator[Address]:
    """Yields the addresses of this machine to which others are connected at a port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(FileNotFoundError), open(table, encoding="utf-8") as lines:
            for fields in map(str.split, lines):
                address, _, at = fields[1].partition(":")
                if fields[3] == _ESTABLISHED and int(at, 16) == port:
                    yield _address(address)


def _address(text: str) -> Address:
    """Returns an address of proc(5): words of 32 bits in the order of this machine."""
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
