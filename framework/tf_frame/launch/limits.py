"""`Limits`: the time limits of the launcher of a job, and the number of restarts."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """Number of restarts of a task, and seconds that the launcher waits.

    Attributes:
      max_restarts: deaths of each task after which it is started again.
      stop_secs: after a failure, from SIGTERM to SIGKILL.
      ps_secs: after a failure, the time in which parameter servers may still be needed.
      ps_leave_secs: after a signal, the time in which they leave once the others have ended.
      save_secs: after a signal to the launcher, from SIGTERM to SIGKILL: the chief saves.
      end_secs: from the end of the chief to that of the others.
      progress_secs: between two lines of progress where there is no terminal.
      status_secs: between two looks at the status files.
      poll_secs: between two looks at the processes and their logs.
    """

    max_restarts: int = 3
    stop_secs: float = 10.0
    ps_secs: float = 1.0
    ps_leave_secs: float = 5.0
    save_secs: float = 60.0
    end_secs: float = 30.0
    progress_secs: float = 30.0
    status_secs: float = 1.0
    poll_secs: float = 0.1
