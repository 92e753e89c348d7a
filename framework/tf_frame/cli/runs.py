"""`tf-frame runs`: lists runs in a table: states, metrics, speed, and the options that differ."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.run_rows import FACTS, Row, make_rows
from tf_frame.command_line import option_help
from tf_frame.command_line.screen import clear_screen, report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.config.values import nearest
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.runs.records.options import differing_options
from tf_frame.runs.records.selection import parse_selection
from tf_frame.text import brief, columns, listed, spreadsheet_cell
from tf_frame.text_width import terminal_width

_USAGE = """usage: tf-frame runs [FOLDER ...] [OPTIONS]

Lists the runs below the folders (runs): what each does or how it ended, its last step, the best and
the last value of its main metric, steps/s, duration, the time since its last sign, and the options
that differ."""
_SORT = Option("sort", str, "age", "column to sort by; -COLUMN: the largest first")
_FILTER = Option(
    "filter",
    str | None,
    None,
    'list only runs that fulfil a condition, such as "learning_rate>0.1 and plugin=deeplab": '
    "= != < <= > >= and ~ (contains), with and, or, not, parentheses; on any column or option",
)
_COLUMNS = Option(
    "columns", tuple[str, ...], (), "the columns; empty: the usual ones and the options that differ"
)
_LAST = Option("last", int | None, None, "list only so many runs, the newest", min=1)
_JSON = Option("json", bool, False, "print JSON for programs")
_CSV = Option("csv", bool, False, "print CSV for spreadsheets")
_WATCH = Option("watch", bool, False, "list again every 2 s, until Ctrl-C")
OPTIONS = (_SORT, _FILTER, _COLUMNS, _LAST, _JSON, _CSV, _WATCH)
_DEFAULT_FOLDER = "runs"
_WATCH_SECS = 2.0
_NUMBERS = (*FACTS[2:3], *FACTS[4:])
_GAP = 2
_SEED = "random_seed"
# Options with a column whether or not the runs differ.
_OF_EVERY_RUN = ("plugin",)


def main(argv: Sequence[str]) -> int:
    """Lists the runs, and returns the exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK
    given, folders = parse_words(argv, OPTIONS)
    values = {option.name: option.default for option in OPTIONS} | given
    folders = [os.path.expanduser(folder) for folder in folders or [_DEFAULT_FOLDER]]
    for folder in folders:
        if not os.path.isdir(folder):
            raise ConfigError(f"there is no folder {brief(folder)}; give the folder of your runs")
    while True:
        text = _text(_select(make_rows(folders), values), values)
        if not values[_WATCH.name]:
            report(text)
            return EXIT_OK
        clear_screen()
        report(text)
        time.sleep(_WATCH_SECS)


def _select(rows: list[Row], values: Mapping[str, Any]) -> list[Row]:
    """Returns the rows that are asked for, in their order."""
    if condition := values[_FILTER.name]:
        fulfils = parse_selection(condition)
        rows = [row for row in rows if fulfils(row.comparable)]
    rows = sorted(rows, key=lambda row: -row.record.time)[: values[_LAST.name]]
    return _sorted(rows, values[_SORT.name])


def _sorted(rows: Sequence[Row], column: str) -> list[Row]:
    name, falls = column.removeprefix("-"), column.startswith("-")
    _check_columns(rows, [name])

    def key(row: Row) -> tuple[bool, float, str]:
        cell = row.comparable(name)
        try:
            return False, -float(cell) if falls else float(cell), ""
        except ValueError:
            return True, 0.0, cell

    return sorted(rows, key=key)


def _check_columns(rows: Sequence[Row], names: Sequence[str]) -> None:
    for name in names:
        is_known = name in (*FACTS, *_OF_EVERY_RUN) or any(name in row.differing for row in rows)
        if rows and not (is_known or any(name in row.options for row in rows)):
            near = nearest(name, {*FACTS, *(name for row in rows for name in row.options)})
            hint = f"; did you mean {brief(near)}?" if near else f"; there are {', '.join(FACTS)}"
            raise ConfigError(f"no run has a column or option {brief(name)}{hint}")


def _text(rows: Sequence[Row], values: Mapping[str, Any]) -> str:
    differing = differing_options(row.record.blocks for row in rows)
    rows = [
        dataclasses.replace(row, differing=options)
        for row, options in zip(rows, differing, strict=True)
    ]
    names = values[_COLUMNS.name] or _usual_columns(rows)
    _check_columns(rows, names)
    if values[_JSON.name]:
        return json.dumps([_facts(row) for row in rows], indent=2)
    table = [names, *([row.cell(name) for name in names] for row in rows)]
    if values[_CSV.name]:
        return _csv_text(table)
    if not rows:
        return "no runs"
    heading = [name.upper() if name in FACTS else name for name in names]
    right = [number for number, name in enumerate(names) if name in _NUMBERS]
    text = columns([heading, *table[1:]], right=right)
    notes = [f"{row.cell('name')}: {row.record.fault}" for row in rows if row.record.fault]
    left_out = [name for name in _differing(rows) if name not in names]
    if left_out and not values[_COLUMNS.name]:
        notes.append(f"the runs differ in {listed(left_out)}, too: --columns shows options")
    return "\n".join([text, *(["", *notes] if notes else [])])


def _csv_text(table: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    lines = ([spreadsheet_cell(cell) for cell in cells] for cells in table)
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().rstrip("\n")


def _usual_columns(rows: Sequence[Row]) -> list[str]:
    """Returns the facts that any run has, and as many options that differ as the lines can hold."""
    used = [name for name in FACTS if any(row.cell(name) for row in rows)]
    names, options = [*used[:1], *_OF_EVERY_RUN, *used[1:]], _differing(rows)
    widths = [_GAP + max(map(len, [n, *(row.cell(n) for row in rows)])) for n in (*names, *options)]
    ends = list(itertools.accumulate(widths))[len(names) :]
    fitting = [name for name, end in zip(options, ends, strict=True) if end <= terminal_width()]
    return [*names, *(fitting or options[:1])]


def _differing(rows: Sequence[Row]) -> list[str]:
    differing = rows[0].differing if rows else {}
    names = (name for name in differing if name not in _OF_EVERY_RUN)
    return sorted(names, key=lambda name: name == _SEED)  # It is the least interesting one.


def _facts(row: Row) -> dict[str, Any]:
    facts = dataclasses.asdict(row.record)
    del facts["blocks"]
    changed = datetime.datetime.fromtimestamp(row.record.time, datetime.timezone.utc)
    return {**facts, "time": changed.isoformat(timespec="seconds"), "options": dict(row.options)}
