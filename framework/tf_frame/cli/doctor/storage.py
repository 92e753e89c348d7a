"""Folders that a run writes, and the sockets of this machine's own addresses."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator

from tf_frame import file_system
from tf_frame.cli.doctor.check import OK, PROBLEM, WARNING, Check
from tf_frame.errors import TfFrameError
from tf_frame.launch.ports import free_ports
from tf_frame.text import readable_bytes

LOOPBACK = "127.0.0.1"
_LITTLE = {"model_dir": 2**30, "temporary folder": 100 * 2**20}
_PORTS_OF_A_JOB = 8
_MAX_SECS = 2.0


def checks(folder: str) -> Iterator[Check]:
    """Yields the checks of the model folder, the temporary folder, and of local connections.

    Args:
      folder: model folder of a run, or the folder in which runs make theirs; a remote one is
        left out, because it needs TensorFlow.
    """
    if not file_system.is_remote(folder):
        yield local_folder("model_dir", folder, "give another MODEL_DIR, or chmod u+w")
    yield _temporary_folder()
    yield loopback()
    yield _ports()


def local_folder(name: str, folder: str, remedy: str) -> Check:
    """The check that a folder can be written, or the one in which it will be made."""
    there = os.path.abspath(os.path.expanduser(folder))
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    try:
        file_system.write_probe(there)
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Check(name, PROBLEM, f"{there} cannot be written: {error.strerror}", (remedy,))
    made = "" if os.path.exists(os.path.expanduser(folder)) else f", to be made in {there}"
    found = f"{folder}{made}: {readable_bytes(free)} free"
    if free >= _LITTLE[name]:
        return Check(name, OK, found)
    return Check(name, WARNING, found, (f"free some space, or {remedy}",))


def _temporary_folder() -> Check:
    name, remedy = "temporary folder", "set TMPDIR to another folder"
    try:
        return local_folder(name, tempfile.gettempdir(), remedy)
    except FileNotFoundError as error:  # Python finds none that can be written.
        return Check(name, PROBLEM, error.strerror or str(error), (remedy,))


def loopback(address: str = LOOPBACK) -> Check:
    """The check that this machine can be reached at its own address."""
    try:
        with (
            socket.create_server((address, 0)) as server,
            socket.create_connection(server.getsockname(), timeout=_MAX_SECS),
        ):
            return Check("loopback", OK, f"{address} takes connections")
    except OSError as error:
        advice = "TensorBoard and jobs on this machine need it; allow it in firewall or sandbox"
        return Check("loopback", PROBLEM, f"{address}: {error.strerror or error}", (advice,))


def _ports() -> Check:
    try:
        found = sorted(free_ports(_PORTS_OF_A_JOB))
    except TfFrameError as error:
        return Check("ports", PROBLEM, str(error))
    return Check("ports", OK, f"free for a job, such as {', '.join(map(str, found[:3]))}")
