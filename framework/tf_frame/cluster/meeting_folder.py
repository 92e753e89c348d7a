"""`MeetingFolder`: the files of a meeting of tasks; see `meeting`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import time
from collections.abc import Iterable
from typing import Any

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.cluster.status import TASKS_FOLDER
from tf_frame.errors import DataError
from tf_frame.side_files import from_json, read_side_file

_CHOICE = "choice.json"
# A task that has not written for so long has ended. A file system of several machines may show a
# change some seconds later.
_SILENT_SECS = 10.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Announcement:
    """The file of a task that waits to be chosen.

    Attributes:
      index: the number of the task.
      address: the address of its server.
      process: a name that no other process has.
      writes: how often the process has written the file.
    """

    index: int
    address: str
    process: str
    writes: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """The file of the chief.

    Attributes:
      meeting: a number that no other meeting has.
      members: the processes of the job -> their addresses, the chief first.
      max_steps: the last step of a training that has ended by itself; None: it has not.
    """

    meeting: int
    members: dict[str, str]
    max_steps: int | None = None


class MeetingFolder:
    """The files of a meeting in `MODEL_DIR/tasks/meeting`; the model folder must exist."""

    def __init__(self, model_dir: str) -> None:
        tasks = file_system.make_subfolder(model_dir, TASKS_FOLDER)
        self._path = file_system.make_subfolder(tasks, "meeting")

    def announce(self, task: Announcement) -> None:
        """Writes the file of a task."""
        self._write(f"{task.index}.json", task)

    def announcements(self) -> list[Announcement]:
        """Returns what the tasks have written, by number; leaves out damaged files."""
        tasks = []
        for path in file_system.files_in(self._path):
            if os.path.basename(path) != _CHOICE:
                with contextlib.suppress(DataError):
                    task = read_side_file(path, functools.partial(from_json, Announcement))
                    tasks += [task] if task else []
        return sorted(tasks, key=lambda task: task.index)

    def choose(self, choice: Choice) -> None:
        """Writes the file of the chief."""
        self._write(_CHOICE, choice)

    def choice(self) -> Choice | None:
        """Returns what the chief has written; None without a file, and for a damaged one."""
        with contextlib.suppress(DataError):
            path = os.path.join(self._path, _CHOICE)
            return read_side_file(path, functools.partial(from_json, Choice))
        return None

    def _write(self, name: str, content: Any) -> None:
        write_file(os.path.join(self._path, name), json.dumps(dataclasses.asdict(content)) + "\n")


class Attendance:
    """Tells tasks that write from those that have ended, whatever their clocks say.

    Args:
      earlier: what had been written before.

    Attributes:
      changed_at: when a process was last seen for the first time, by `time.monotonic`.
    """

    def __init__(self, earlier: Iterable[Announcement]) -> None:
        self._last = {task.index: (task, float("-inf")) for task in earlier}
        self._processes: set[str] = set()
        self.changed_at = time.monotonic()

    def look(self, announcements: Iterable[Announcement]) -> list[Announcement]:
        """Returns the tasks that are writing."""
        now = time.monotonic()
        for task in announcements:
            if task.index not in self._last or self._last[task.index][0] != task:
                self._last[task.index] = (task, now)
        present = [task for task, at in self._last.values() if at > now - _SILENT_SECS]
        if new := {task.process for task in present} - self._processes:
            self._processes |= new
            self.changed_at = now
        return sorted(present, key=lambda task: task.index)
