"""`Outcome`: the consequence of the end of a task for its job."""

from __future__ import annotations

import enum
import signal

# A task that is well, but has lost the others, ends with this code to be started again.
EXIT_LOST_PEERS = 138
# From here on an exit code tells of a signal, as shells say it: 137 of SIGKILL, such as the
# system's when memory ends.
_FIRST_OF_SIGNALS = 128


class Outcome(enum.Enum):
    """Reaction of the launcher to a task that has ended."""

    DONE = "done"
    RESTART = "restart"  # It died, which counts.
    REJOIN = "rejoin"  # It lost the others, which does not count.
    FAILED = "failed"  # It would fail again: a wrong option, an error in a plugin.


def outcome_of(exit_code: int) -> Outcome:
    """Returns what the end of a task means while its job goes on.

    Args:
      exit_code: its exit code; of a signal that ended it, the negative number.
    """
    if exit_code == 0:
        return Outcome.DONE
    if exit_code == EXIT_LOST_PEERS:
        return Outcome.REJOIN
    died = exit_code < 0 or exit_code >= _FIRST_OF_SIGNALS
    return Outcome.RESTART if died else Outcome.FAILED


def end_text(exit_code: int) -> str:
    """Returns how a task ended in words, such as `was killed by SIGKILL`."""
    if exit_code == 0:
        return "ended well"
    if exit_code == EXIT_LOST_PEERS:
        return "lost the other tasks"
    if exit_code > 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was killed by signal {-exit_code}"
