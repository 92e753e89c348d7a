"""`process_secs`: the seconds since this process began."""

from __future__ import annotations

import os
import time

_IMPORTED = time.monotonic()
_STAT = "/proc/self/stat"
# Of the fields behind the name of the program: the start, in ticks since the system's start
# (proc_pid_stat(5)).
_START = 19


def process_secs() -> float:
    """Returns the seconds since this process began; without Linux, since tf-frame was imported."""
    if not os.path.exists(_STAT):
        return time.monotonic() - _IMPORTED
    with open(_STAT, "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    began = int(fields[_START]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began
