"""The last lines of the launcher: how each task ended, and the job."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tf_frame.launch.task_run import TaskRun
from tf_frame.text import columns, indented

# A failure that is further up on the screen is shown again.
_STILL_SEEN_LINES = 30


@dataclasses.dataclass(frozen=True)
class Failure:
    """Reason for the failure of a job.

    Attributes:
      text: what happened.
      run: the task that failed first; None if it was no single one.
      shown: number of lines that had been shown by then.
    """

    text: str
    run: TaskRun | None
    shown: int


def table_of(runs: Sequence[TaskRun]) -> str:
    """Returns a line for each task: how it ended, restarts, seconds, and the log of a failure."""
    return columns([_row(run) for run in runs], right=(3,))


def _row(run: TaskRun) -> tuple[str, ...]:
    again = {0: "", 1: "1 restart"}.get(run.restarts, f"{run.restarts} restarts")
    log = f"log: {run.log}" if run.failed else ""
    return (str(run.task), run.end_text(), again, f"{run.seconds:.0f} s", log)


def failure_text(failure: Failure, shown: int) -> str:
    """Returns why a job failed, with the last lines of the task if they are out of sight.

    Args:
      failure: why.
      shown: number of lines that have been shown by now.
    """
    text = f"failed: {failure.text}"
    lines = list(failure.run.last_lines) if failure.run else []
    if not lines or shown - failure.shown <= _STILL_SEEN_LINES:
        return text
    return f"{text}; its last lines:\n{indented(lines, len(lines))}"
