"""The findings of `tf-frame legacy check`, as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tf_frame_legacy.names import NOT_OFFERED
from tf_frame_legacy.source.lookup import KEPT, NEWER, NEWER_NOTE, OFFERED, UNKNOWN, Answer
from tf_frame_legacy.source.packages import Package
from tf_frame_legacy.source.traps import Trap

# From the state that serves a program best.
ORDER = (KEPT, OFFERED, NOT_OFFERED, NEWER, UNKNOWN)
_MISSING = (NOT_OFFERED, NEWER, UNKNOWN)
SWITCH = "--with_old_packages"
_SHOWN = 3


class Place(NamedTuple):
    """A line of a file."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class OldName(NamedTuple):
    """A name that programs for TensorFlow 1 lack today, and where the program uses the name."""

    answer: Answer
    places: list[Place]


@dataclasses.dataclass(frozen=True)
class Findings:
    """What a program needs.

    Attributes:
      folder: the folder of the program.
      files: the number of Python files.
      names: the names that TensorFlow has removed, and those that only TensorFlow 2 has.
      traps: other lines that fail today.
      packages: the packages that the program imports.
    """

    folder: str
    files: int
    names: Sequence[OldName]
    traps: Sequence[Trap]
    packages: Sequence[Package]

    @property
    def uses(self) -> int:
        """The number of uses of old names."""
        return sum(len(name.places) for name in self.removed)

    @property
    def removed(self) -> list[OldName]:
        """The names that TensorFlow has removed."""
        return [name for name in self.names if name.answer.state != NEWER]

    @property
    def offered_uses(self) -> int:
        """The number of uses of old names that tf-frame offers."""
        return sum(len(name.places) for name in self.with_state(OFFERED))

    @property
    def percent(self) -> float:
        """The share of uses that tf-frame offers; 100 without any."""
        return round(100 * self.offered_uses / self.uses, 2) if self.uses else 100.0

    def with_state(self, *states: str) -> list[OldName]:
        """Returns the old names in some states."""
        return [name for name in self.names if name.answer.state in states]

    @property
    def runs(self) -> bool:
        """Whether nothing is left to do."""
        return not self._obstacles()

    @property
    def verdict(self) -> str:
        """Whether the program runs, in one line."""
        switch = f" with {SWITCH}" if any(trap.is_restored for trap in self.traps) else ""
        obstacles = self._obstacles()
        return f"runs{switch}" + (f" but for {'; '.join(obstacles)}" if obstacles else "")

    def _obstacles(self) -> list[str]:
        missing = [name.answer.name for name in self.with_state(*_MISSING)]
        obstacles = [f"names that are not offered: {_some(missing)}"] if missing else []
        lines: dict[str, list[str]] = {}
        for trap in self.traps:
            if not trap.is_restored:
                lines.setdefault(trap.category, []).append(f"{trap.path}:{trap.line}")
        obstacles += [f"{category}: {_some(places)}" for category, places in lines.items()]
        absent = [package.module for package in self.packages if not package.is_installed]
        return obstacles + ([f"packages: {_some(absent)}"] if absent else [])


def as_text(findings: Findings) -> str:
    """Returns the findings for a person: all lines of what stops the program, three of the rest."""
    paragraphs = [
        [f"{findings.files} Python files below {findings.folder}"],
        [*_missing(findings)],
        [*_offered(findings)],
        [*_traps(findings)],
        [*_packages(findings)],
        [
            f"uses of names that TensorFlow has removed: {findings.uses}, of "
            f"{len(findings.removed)} names; offered {findings.offered_uses}, "
            f"{findings.percent:.2f} %",
            f"verdict: {findings.verdict}",
        ],
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines)


def _missing(findings: Findings) -> Iterator[str]:
    names = findings.with_state(*_MISSING)
    if names:
        yield "names that are not offered:"
    for answer, places in names:
        row = answer.row
        note = row.note if row else ""
        if answer.name.startswith("tf.keras."):
            note = "Keras 3 has no such name"
        elif answer.state == NEWER:
            note = NEWER_NOTE
        elif answer.state == UNKNOWN:
            note = "TensorFlow 2 and the table of names have no such name"
        yield f"  {answer.name}: {note}"
        yield from (f"    {place}" for place in places)


def _offered(findings: Findings) -> Iterator[str]:
    names = findings.with_state(OFFERED)
    if names:
        yield "names that are offered, with uses:"
    for answer, places in names:
        shown = [str(place) for place in places]
        yield f"  {answer.name}: {len(places)}, {_some(shown)}"


def _traps(findings: Findings) -> Iterator[str]:
    category = ""
    for trap in sorted(findings.traps, key=lambda trap: (trap.category, trap.path, trap.line)):
        if trap.category != category:
            category = trap.category
            yield f"{category}:"
        switch = f", or run with {SWITCH}" if trap.is_restored else ""
        yield f"  {trap.path}:{trap.line}: {trap.text}; {trap.remedy}{switch}"


def _packages(findings: Findings) -> Iterator[str]:
    if findings.packages:
        yield "packages:"
    for package in findings.packages:
        remedy = f"; pip install {package.pip}" if package.pip else ""
        state = "installed" if package.is_installed else f"missing{remedy}"
        yield f"  {package.module}: {state} ({package.path}:{package.line})"


def as_json(findings: Findings) -> dict[str, Any]:
    """Returns the findings for programs.

    Returns:
      folder, files: the folder, and the number of Python files in it.
      verdict, runs: whether the program runs, as text and as true or false; runs is false if
        something is left to do.
      uses, offered_uses, percent_offered: the counts of uses of names that TensorFlow has removed.
      names: for each such name `name`; `state`: offered, not offered, newer, or unknown; `target`:
        the name today, `kind` and `note` of the table, each empty without one; `uses`: path and
        line.
      traps: other lines that fail: `path`, `line`, `category`, `text`, `remedy`; `is_restored`:
        whether --with_old_packages makes the line run.
      packages: `module`, `pip`, `path`, `line`, `is_installed`.
    """
    return {
        "folder": findings.folder,
        "files": findings.files,
        "verdict": findings.verdict,
        "runs": findings.runs,
        "uses": findings.uses,
        "offered_uses": findings.offered_uses,
        "percent_offered": findings.percent,
        "names": [_name_as_json(name) for name in findings.names],
        "traps": [dataclasses.asdict(trap) for trap in findings.traps],
        "packages": [dataclasses.asdict(package) for package in findings.packages],
    }


def _name_as_json(name: OldName) -> dict[str, Any]:
    row = name.answer.row
    return {
        "name": name.answer.name,
        "state": name.answer.state,
        "target": row.target if row else "",
        "kind": row.kind if row else "",
        "note": row.note if row else "",
        "uses": [place._asdict() for place in name.places],
    }


def _some(words: Sequence[str]) -> str:
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
