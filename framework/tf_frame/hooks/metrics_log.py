"""`MetricsLog`: passes the figures of training and evaluation to `metrics.csv` and other loggers.

Loggers are no session hooks, because evaluations run outside of the training session; the last
evaluation even runs after the session has ended. A run gives every figure to its `MetricsLog`;
`--hook csv`, `mlflow` and `wandb` add loggers to the `MetricsLog`.
"""

from __future__ import annotations

import csv
import datetime
import io
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from tf_frame.atomic_output import write_file
from tf_frame.errors import DataError
from tf_frame.file_system import exists
from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.plugin.class_metric import is_undefined
from tf_frame.side_files import set_aside
from tf_frame.text import short, spreadsheet_cell
from tf_frame.text_file import parse_integer, read_text

_LOG = logging.getLogger("tf_frame")

TRAIN, EVAL = "train", "eval"
_FIXED = ("step", "split", "time")
# Spreadsheets write one of them, and with a semicolon also commas in numbers.
_DELIMITERS = (",", ";", "\t")
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")


class MetricsLogger(Protocol):
    """Receives the figures of a run."""

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        """Takes the figures of a log interval (`train`) or an evaluation (`eval`)."""

    def close(self) -> None:
        """Called once, after the last figures."""


class MetricsLog:
    """Gives figures to loggers, in a background thread.

    A logger that fails is reported and receives no more figures; training goes on.
    """

    def __init__(self, *, report: Callable[[str], None] = _LOG.warning) -> None:
        self._loggers: list[MetricsLogger] = []
        self._report = report

    def add(self, logger: MetricsLogger) -> None:
        """Adds a logger, which receives later figures."""
        self._loggers.append(logger)

    def write(self, split: str, step: int, values: Mapping[str, float | None]) -> None:
        """Gives figures of the split `train` or `eval` to every logger; None is left out."""
        figures = {name: float(value) for name, value in values.items() if value is not None}
        write_in_background(self._call_each, lambda logger: logger.write(split, step, figures))

    def close(self) -> None:
        """Waits until all figures are written, and closes the loggers."""
        wait_for_background_writer()
        self._call_each(lambda logger: logger.close())
        self._loggers.clear()

    def _call_each(self, call: Callable[[MetricsLogger], None]) -> None:
        for logger in list(self._loggers):
            try:
                call(logger)
            except Exception as error:
                self._loggers.remove(logger)
                name = type(logger).__name__
                self._report(
                    f"warning: {name} gets no more figures: {type(error).__name__}: {error}"
                )


class MetricsCsv:
    """A CSV file with a row for each log interval and each evaluation.

    Columns are `step`, `split` (`train` or `eval`), `time` (UTC, ISO 8601), and the figures;
    missing figures are empty. A resumed run appends to the file and removes rows of steps that a
    killed run trained after its last checkpoint. A second evaluation of a step replaces the
    first evaluation. A file that a spreadsheet has saved is read by the names of its columns; a
    damaged file is kept as `metrics.csv.damaged`.

    Args:
      path: the file.
      last_step: the step before the first step of the run; later rows are removed.
      report: takes a line about a damaged file.
    """

    def __init__(
        self, path: str, *, last_step: int, report: Callable[[str], None] = _LOG.warning
    ) -> None:
        self._path = path
        self._report = report
        self._columns = list(_FIXED)
        self._rows: dict[tuple[str, str], dict[str, str]] = {}
        self._read(last_step)

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        row = {"step": str(step), "split": split, "time": now}
        # The names as the file has them, so that a resumed run finds its columns.
        # A figure of classes that is not defined keeps its column.
        row |= {
            spreadsheet_cell(name): "" if is_undefined(name, value) else f"{value:.7g}"
            for name, value in values.items()
        }
        key = (row["split"], row["step"])
        is_new = key not in self._rows and set(row) <= set(self._columns)
        self._rows[key] = row
        if is_new:
            self._append(row)
        else:
            self._columns += [name for name in row if name not in self._columns]
            self._rewrite()

    def has(self, split: str, step: int) -> bool:
        """Returns whether the file has the figures of a step."""
        return (split, str(step)) in self._rows

    def close(self) -> None:
        """Does nothing: the file is closed between two rows."""

    def _read(self, last_step: int) -> None:
        if not exists(self._path):
            return
        try:
            columns, rows = _read_table(self._path)
        except DataError as error:
            set_aside(self._path, error, report=self._report)
            return
        self._columns = list(dict.fromkeys([*_FIXED, *columns]))
        self._rows = {
            (row["split"], row["step"]): row for row in rows if int(row["step"]) <= last_step
        }
        self._rewrite()

    def _append(self, row: Mapping[str, str]) -> None:
        import tensorflow.compat.v1 as tf

        with tf.io.gfile.GFile(self._path, "a") as file:
            file.write(self._lines([row]))

    def _rewrite(self) -> None:
        header = dict(zip(self._columns, self._columns, strict=True))
        write_file(self._path, self._lines([header, *self._rows.values()]))

    def _lines(self, rows: Iterable[Mapping[str, str]]) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self._columns, restval="", lineterminator="\n").writerows(rows)
        return text.getvalue()


def _read_table(path: str) -> tuple[list[str], list[dict[str, str]]]:
    """Returns the columns and the rows of the file; rows without a step are left out.

    Raises:
      DataError: the file is damaged.
    """
    text = read_text(path)
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    # A killed run may have left half a line.
    lines = io.StringIO(text[: text.rfind("\n") + 1], newline="")
    try:
        table = csv.DictReader(lines, delimiter=delimiter, restval="")
        rows = [_row(cells, delimiter) for cells in table]
    except csv.Error as error:
        raise DataError(f"{short(path)} is damaged: {error}") from None
    columns = list(table.fieldnames or ())
    if text and not {"step", "split"} <= set(columns):
        raise DataError(f"{short(path)} is damaged: it has no columns step and split")
    return columns, [row for row in rows if row is not None]


def _row(cells: dict[str | None, Any], delimiter: str) -> dict[str, str] | None:
    row = {name: cell for name, cell in cells.items() if name is not None}
    try:
        row["step"] = str(parse_integer(row.get("step")))
    except ValueError:
        return None
    if delimiter == ";":
        numbers = {name: cell for name, cell in row.items() if _COMMA_NUMBER.fullmatch(cell)}
        row |= {name: cell.replace(",", ".") for name, cell in numbers.items()}
    return row if "split" in row else None
