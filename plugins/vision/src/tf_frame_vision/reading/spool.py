"""Collects values that would fill the memory in a temporary file, and maps them into memory."""

from __future__ import annotations

import contextlib
import tempfile
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from tf_frame.errors import DataError


class Spool:
    """Values that are appended, then read; the file goes with the object."""

    def __init__(self) -> None:
        self._file: Any = None
        self._ends = array("q", [0])

    def keep(self, data: bytes) -> None:
        """Appends a value.

        Raises:
          DataError: there is no room for it.
        """
        with _naming_the_folder():
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115, mapped later
            self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def places(self) -> Any:
        """Returns begin and end of each value, `[values, 2]` int64."""
        ends = np.frombuffer(self._ends, np.int64)
        return np.stack([ends[:-1], ends[1:]], 1)

    def content(self) -> Any:
        """Returns all bytes, one value after the other: uint8.

        Raises:
          DataError: there is no room for them.
        """
        if self._ends[-1] == 0:
            return np.zeros([0], np.uint8)
        with _naming_the_folder():
            self._file.flush()
        return np.memmap(self._file, np.uint8, "r")


@contextlib.contextmanager
def _naming_the_folder() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{tempfile.gettempdir()} cannot hold the annotations: {error.strerror}; name another "
            "folder by TMPDIR"
        ) from None
