"""`tf-frame legacy check`: tells whether an old program runs, and which lines stop it."""

from __future__ import annotations

import contextlib
import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report as print_line
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_FAILED, EXIT_OK
from tf_frame_legacy.names import NOT_OFFERED
from tf_frame_legacy.source import report, traps
from tf_frame_legacy.source.bindings import Use
from tf_frame_legacy.source.lookup import (
    KEPT,
    OFFERED,
    UNKNOWN,
    Answer,
    is_in_keras_2,
    is_tensorflow,
    look_up,
)
from tf_frame_legacy.source.packages import packages
from tf_frame_legacy.source.project import Project
from tf_frame_legacy.source.report import Findings, OldName, Place
from tf_frame_legacy.source.resolve import Names, resolve

_USAGE = """usage: tf-frame legacy check DIR [--json]

Reads the Python files below DIR, without running them or importing TensorFlow, and prints the names
that TensorFlow has removed, offered by tf-frame or not, with files and lines; what else stops the
program today: Python 2, NumPy, other packages, compiled code; and the packages that it needs. The
exit code is 0 if the program runs by tf-frame legacy run, 1 if something is left to do."""
_OPTIONS = (Option("json", bool, False, "print JSON for programs, with every line"),)


@folder_command(
    name="tf-frame legacy check", usage=_USAGE, options=_OPTIONS, takes="one folder, DIR"
)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Prints the findings of a folder; returns the exit code."""
    findings = check(folders[0])
    if values["json"]:
        print_line(json.dumps(report.as_json(findings), indent=2))
    else:
        print_line(report.as_text(findings))
    return EXIT_OK if findings.runs else EXIT_FAILED


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Stops the collection of garbage: syntax trees are many objects, and none of them garbage.

    Decorates a function, so that the trees are gone before the collector starts again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@without_collection()
def check(folder: str) -> Findings:
    """Returns what the sources of a program in a folder need.

    Raises:
      ConfigError: there is no such folder.
    """
    project = Project(folder)
    files = resolve(project)
    found = [*traps.unreadable(project)]
    for source in project.sources:
        if source.path in files:
            found += traps.traps(source, files[source.path])
    found += traps.extensions(project)
    return Findings(
        folder=folder,
        files=len(project.sources),
        names=_old_names(files),
        traps=list(dict.fromkeys(found)),
        packages=packages(files),
    )


def _old_names(files: Mapping[str, Names]) -> list[OldName]:
    """Returns the names that TensorFlow has removed; those used most come first."""
    found: dict[str, OldName] = {}
    for path, names in files.items():
        for use in names.uses:
            answer = best_answer(use)
            if answer is None or (use.is_caught and answer.state not in (KEPT, OFFERED)):
                continue  # The program has something else for a name that it may lack.
            if answer.state in (NOT_OFFERED, UNKNOWN) and is_in_keras_2(answer.name):
                continue  # Only Keras 3 lacks it.
            if answer.state != KEPT and is_tensorflow(answer.name):
                name = found.setdefault(answer.name, OldName(answer, []))
                name.places.append(Place(path, use.line))
    return sorted(found.values(), key=lambda name: (-len(name.places), name.answer.name))


def best_answer(use: Use) -> Answer | None:
    """Returns what becomes of a use; of several names that it may mean, of the best.

    A program that imports a name in several ways, such as below `try`, needs only one of them.
    """
    answers = [answer for name in use.names if (answer := look_up(name)) is not None]
    return min(answers, key=lambda answer: report.ORDER.index(answer.state), default=None)
