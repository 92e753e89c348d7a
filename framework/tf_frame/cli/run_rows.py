"""Rows of the table of `tf-frame runs`: the facts of runs as texts, and for comparisons."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Mapping, Sequence

from tf_frame.launch.watchdog import is_there
from tf_frame.runs.records.options import all_options, find_option
from tf_frame.runs.records.record import RunRecord, find_runs, read_record
from tf_frame.text import figure

# Seconds of a unit, and of the next smaller one.
_UNITS = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
FACTS = ("name", "state", "step", "metric", "best", "last", "steps/s", "duration", "age")


@dataclasses.dataclass(frozen=True)
class Row:
    """A run in the table.

    Attributes:
      record: its facts.
      age: seconds since the last sign of the run.
      cells: the texts of its facts.
      differing: its options that differ from those of other runs of the table.
    """

    record: RunRecord
    age: float
    cells: Mapping[str, str]
    differing: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def options(self) -> Mapping[str, str]:
        """All options."""
        return all_options(self.record.blocks)

    def cell(self, column: str) -> str:
        """Returns the text of a column or option; empty without one."""
        known = self.cells if column in self.cells else self.differing
        return known[column] if column in known else find_option(self.record.blocks, column)

    def comparable(self, column: str) -> str:
        """Returns the text of a column or option with a plain number, for comparisons."""
        record = self.record
        numbers = {
            **{"step": record.step, "best": record.best, "last": record.last},
            **{"steps/s": record.steps_per_sec, "duration": record.secs, "age": self.age},
        }
        if column not in numbers:
            return self.cell(column)
        return "" if numbers[column] is None else repr(numbers[column])


def make_rows(folders: Sequence[str]) -> list[Row]:
    """Reads the runs below folders."""
    now = time.time()
    root = folders[0] if len(folders) == 1 else os.curdir
    records = [read_record(folder, is_there, now) for folder in find_runs(folders)]
    # The clock of another machine may be ahead.
    ages = [max(now - record.time, 0.0) for record in records]
    return [
        Row(record, age, _cells(record, root, age))
        for record, age in zip(records, ages, strict=True)
    ]


def _cells(record: RunRecord, root: str, age: float) -> dict[str, str]:
    of = "" if record.max_steps is None else f"/{record.max_steps}"
    name = os.path.relpath(record.folder, root)
    return {
        "name": record.folder if name.startswith(os.pardir) or name == os.curdir else name,
        "state": record.state,
        "step": "" if record.step is None else f"{record.step}{of}",
        "metric": record.metric,
        "best": "" if record.best is None else figure(record.best),
        "last": "" if record.last is None else figure(record.last),
        "steps/s": "" if record.steps_per_sec is None else f"{record.steps_per_sec:.2f}",
        "duration": _duration(record.secs),
        "age": _duration(age) if record.time else "",
    }


def _duration(secs: float | None) -> str:
    """Returns a duration in its two largest units: `2 h 5 min`."""
    if secs is None:
        return ""
    for size, unit, part, smaller in _UNITS:
        if secs >= size:
            return f"{secs // size:.0f} {unit} {secs % size // part:.0f} {smaller}"
    return f"{secs:.0f} s"
