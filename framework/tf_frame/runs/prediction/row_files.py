"""Writers of files with one row for each prediction: JSON Lines and CSV, for other programs.

    rows = PredictionJsonLines("predictions")
    rows("dog.png", None, {"class": 3, "probabilities": [0.1, 0.2, 0.7]})
    rows.close()

Each row is written at once and completely: the file of a stopped run can be read.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame.errors import ConfigError, translated_write_errors
from tf_frame.text import printable, spreadsheet_cell

# Predictions that have a number for each class.
_PER_CLASS = ("probabilities", "logits", "scores")


def translated_output_errors(
    directory: str, num_written: int
) -> contextlib.AbstractContextManager[None]:
    """Turns a full disk, and other errors of the file system, into one error for the user.

    Args:
      directory: the folder of the predictions.
      num_written: the number of predictions that are written.
    """
    kept = f"the first {num_written} are there" if num_written else "none is there"
    return translated_write_errors(
        f"the predictions could not be written to --output {directory}",
        f"{kept}; free space, check that the folder can be written, and run the same command again",
        within=directory,
    )


class _Rows:
    """A file of rows in an existing folder; created with the first row.

    Args:
      directory: the folder.
      class_names: names of the classes; may be empty.
    """

    file_name = ""

    def __init__(self, directory: str, class_names: Sequence[str] = ()) -> None:
        self.path = os.path.join(directory, self.file_name)
        self.class_names = class_names
        self._file: io.FileIO | None = None

    def __call__(self, name: str, features: Any, prediction: Any) -> None:
        """Writes one row: a mapping of arrays, or one array, without the batch dimension."""
        named = prediction if isinstance(prediction, Mapping) else {"prediction": prediction}
        row = self._row({"name": np.asarray(name), **named}).encode()
        if self._file is None:
            # Unbuffered, so that each row is in the file as soon as it is written.
            self._file = open(self.path, "wb", buffering=0)  # noqa: SIM115
        self._write(row)

    def close(self) -> None:
        """Closes the file; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _row(self, values: Mapping[str, Any]) -> str:
        """Returns the values of an example as a line of the file."""
        raise NotImplementedError(f"{type(self).__name__} does not define _row()")

    def _write(self, row: bytes) -> None:
        """Writes a complete row or, on a full disk, nothing."""
        assert self._file is not None
        end, remaining = self._file.tell(), memoryview(row)
        try:
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError:
            self._file.seek(end)
            self._file.truncate()
            raise


class PredictionJsonLines(_Rows):
    """Writes `predictions.jsonl`: an object a line; arrays are lists, NaN and infinities null.

    Args:
      directory: the folder; it exists.
      class_names: names of the classes, in the order of their numbers; empty: none are known.
    """

    file_name = "predictions.jsonl"

    def _row(self, values: Mapping[str, Any]) -> str:
        row = {key: _plain(value) for key, value in values.items()}
        # Bytes of a file name that are no text are no UTF-8.
        return printable(json.dumps(row, ensure_ascii=False, allow_nan=False)) + "\n"


class PredictionCsv(_Rows):
    """Writes `predictions.csv`: a column for each number, for arrays `name_0` or `name_0_1`.

    Columns of `probabilities`, `logits` and `scores` have the names of the classes, if there are
    any, instead of numbers. NaN and infinities are `nan`, `inf` and `-inf`. No text is a formula
    of a spreadsheet, and control characters are escapes (`tf_frame.text.spreadsheet_cell`).

    Args:
      directory: the folder; it exists.
      class_names: names of the classes, in the order of their numbers; empty: none are known.
    """

    file_name = "predictions.csv"

    def __init__(self, directory: str, class_names: Sequence[str] = ()) -> None:
        super().__init__(directory, class_names)
        self._columns: list[str] = []

    def _row(self, values: Mapping[str, Any]) -> str:
        cells = {
            column: cell
            for key, value in values.items()
            for column, cell in self._cells(key, value)
        }
        lines = [list(cells.values())]
        if not self._columns:
            self._columns = list(cells)
            lines.insert(0, self._columns)
        if list(cells) != self._columns:
            raise ConfigError(
                f"the prediction for {cells['name']} has {len(cells)} columns, earlier ones have "
                f"{len(self._columns)}, and a table has the same for all; use --format jsonl"
            )
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([map(spreadsheet_cell, line) for line in lines])
        return text.getvalue()

    def _cells(self, key: str, value: Any) -> list[tuple[str, Any]]:
        """Returns column names and values of one prediction."""
        array = _readable(np.asarray(value))
        names = self.class_names if key in _PER_CLASS else ()
        if array.shape == (len(set(names)),) and len(set(names)) == len(names):
            return [(f"{key}_{name}", cell) for name, cell in zip(names, array, strict=True)]
        places = np.ndindex(array.shape)
        return [("_".join([key, *map(str, place)]), array[place]) for place in places]


FORMATS: dict[str, type[_Rows]] = {"csv": PredictionCsv, "jsonl": PredictionJsonLines}


def _plain(value: Any) -> Any:
    """Returns a value as a number, a text, or nested lists of them."""
    array = _readable(np.asarray(value))
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        array = np.where(np.isfinite(array), array.astype(object), None)
    return array.tolist()


def _readable(array: Any) -> Any:
    """Returns an array with the same values in types that print well.

    A float32 of 0.1 becomes the float64 of 0.1. Its text is the shortest one that reads
    back as the same float32. TensorFlow's strings are bytes.
    """
    if array.dtype.kind in "OS":
        return np.vectorize(_text, otypes=[object])(array)
    if array.dtype.kind == "V":  # bfloat16 and the like are not NumPy types
        array = array.astype(np.float32)
    if array.dtype.kind == "f" and array.itemsize < 8:
        return array.astype(str).astype(np.float64)
    return array


def _text(value: Any) -> Any:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
