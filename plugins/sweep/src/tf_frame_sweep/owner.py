"""The owner of a trial: its process, so that a sweep goes on with trials of a killed process."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from tf_frame.cluster.status import process_began
from tf_frame.launch.watchdog import is_there

OWNER = "owner"


def own_process() -> dict[str, Any]:
    """Returns host, number and start of this process."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "pid": pid, "began": process_began(pid)}


def is_orphan(owner: Mapping[str, Any]) -> bool:
    """Returns whether the owner of a trial was a process of this machine, and has ended."""
    if owner["host"] != socket.gethostname():
        return False
    # Numbers of processes are used again.
    return not is_there(owner["pid"]) or process_began(owner["pid"]) != owner["began"]
