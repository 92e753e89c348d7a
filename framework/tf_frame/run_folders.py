"""Folders of runs near a path that a user gives, for the message where the path is no run."""

from __future__ import annotations

import difflib
import glob
import os

from tf_frame.text import listed, short

# The file that makes a folder one of a run.
CONFIGURATION = "config.yaml"
# The result of the last run, for programs.
RESULT_FILE = "result.json"


def runs_hint(path: str) -> str:
    """Returns the rest of a message: the runs in a folder, or those beside it with near names.

    It begins with a semicolon, and is empty without such runs. Remote folders are not listed.
    """
    folder = path.rstrip("/")
    if inside := _runs_in(folder):
        return f"; it holds the runs {listed(os.path.join(folder, name) for name in inside)}"
    parent, name = os.path.split(folder)
    near = difflib.get_close_matches(name, [run for run in _runs_in(parent) if run != name])
    paths = [os.path.join(parent, run) for run in near]
    return f"; did you mean {short(' or '.join(paths))}?" if paths else ""


def _runs_in(folder: str) -> list[str]:
    files = glob.glob(os.path.join(glob.escape(folder), "*", CONFIGURATION))
    return sorted(os.path.basename(os.path.dirname(file)) for file in files)
