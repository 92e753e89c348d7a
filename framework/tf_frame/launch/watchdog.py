"""A separate program that ends the tasks of a launcher that was killed.

The launcher writes `+PID` for each process group that it starts, and `-PID` for each that has
ended, to the standard input of this program. If the input ends while groups are left, they get
SIGTERM, so that the chief saves, and SIGKILL if they do not end.

The launcher runs this file by its path. The file imports only the standard library, so it starts
in some hundredths of a second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

_GRACE_SECS = 60.0
_POLL_SECS = 0.1


def main() -> None:
    """Reads until the launcher ends; then ends the groups that are left."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line.startswith("+") else groups.discard
        # The last line of a killed launcher may be incomplete.
        if line.endswith("\n"):
            change(int(line[1:]))
    end_groups(groups, float(sys.argv[1]) if len(sys.argv) > 1 else _GRACE_SECS)


def end_groups(groups: set[int], grace_secs: float) -> None:
    """Ends process groups: SIGTERM to their first processes, and SIGKILL to all after a time."""
    for group in groups:
        with contextlib.suppress(OSError):
            os.kill(group, signal.SIGTERM)
    deadline = time.monotonic() + grace_secs
    while groups and time.monotonic() < deadline:
        # Processes that a task has started end with it.
        for group in [group for group in groups if not is_there(group)]:
            _kill(group)
            groups.discard(group)
        time.sleep(_POLL_SECS)
    for group in groups:
        _kill(group)


def is_there(pid: int) -> bool:
    """Returns whether a process exists and has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return process_state(pid) != "Z"


def process_state(pid: int) -> str:
    """Returns the letter of proc(5) for the state of a process; empty outside of Linux.

    `Z`: it has ended and was not reaped; `T`: it was stopped by SIGSTOP.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The state follows the name in brackets, which may contain brackets.
            return b"".join(file.read().rpartition(b")")[2].split()[:1]).decode()
    except OSError:
        return ""


def _kill(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
