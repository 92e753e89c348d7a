"""`JobScreen`: shows lines of all tasks, each after the name of its task, above a progress line."""

from __future__ import annotations

import collections
import os
import re
import sys
from typing import TextIO

from tf_frame.launch.job import Task
from tf_frame.text_width import cut_to_width, terminal_width

_REMEMBERED_LINES = 5000
_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
# Time and process in a log, which differ between the same lines of several tasks.
_STAMP = re.compile(r"^(?:[IWEF]\d{4} [\d:.]+ +\d+ |\d{4}-\d\d-\d\d[ T][\d:.,]+:? )")
_CLEAR_LINE = "\r\033[K"


class JobScreen:
    """Standard output, or another file, that the tasks of a job share.

    Attributes:
      shown: number of lines that were shown.
      is_terminal: whether the line of progress is drawn in place.
    """

    def __init__(self, tasks: list[Task], out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self.is_terminal = self._out.isatty() and os.environ.get("TERM") != "dumb"
        coloured = self._out.isatty() and not os.environ.get("NO_COLOR")
        self._prefixes = {
            task: _coloured(f"[{task}]", index) if coloured else f"[{task}]"
            for index, task in enumerate(tasks)
        }
        self._first_shown_by: collections.OrderedDict[str, Task] = collections.OrderedDict()
        self._progress = ""
        self.shown = 0

    def say(self, text: str) -> None:
        """Shows lines above the line of progress."""
        before, after = (_CLEAR_LINE, self._fitting()) if self._progress else ("", "")
        self._out.write(f"{before}{text}\n{after}")
        self._out.flush()
        self.shown += 1

    def task_line(self, task: Task, line: str) -> bool:
        """Shows a line of a task, unless another task has shown it; returns whether it is shown."""
        key = _STAMP.sub("", line).rstrip()
        if not key or self._first_shown_by.setdefault(key, task) != task:
            return False
        self._first_shown_by.move_to_end(key)
        if len(self._first_shown_by) > _REMEMBERED_LINES:
            self._first_shown_by.popitem(last=False)
        self.say(f"{self._prefixes[task]} {line}")
        return True

    def progress(self, text: str) -> None:
        """Shows the progress of the job; on a terminal it replaces the last one."""
        if not self.is_terminal:
            self.say(text)
        elif text != self._progress:
            self._progress = text
            self._out.write(_CLEAR_LINE + self._fitting())
            self._out.flush()

    def end_progress(self) -> None:
        """Leaves the last progress of a terminal where it is, and goes to the next line."""
        if self._progress:
            self._out.write("\n")
            self._out.flush()
            self._progress = ""

    def _fitting(self) -> str:
        """The progress in one line: a terminal could not clear two."""
        return cut_to_width(self._progress, terminal_width() - 1)


def _coloured(text: str, index: int) -> str:
    return f"\033[{_COLOURS[index % len(_COLOURS)]}m{text}\033[0m"
