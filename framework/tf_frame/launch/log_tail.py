"""Reads the lines that a task adds to its log, whatever bytes it writes."""

from __future__ import annotations

import re
from typing import BinaryIO

_READ_BYTES = 1 << 20
_LONGEST = 2000
# Colours, movements of the cursor and other control characters, which would spoil a shared screen.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


class LogTail:
    """The end of a file that another process writes.

    A line of which a carriage return starts over counts as what it says last, as on a terminal. A
    line that is too long to read is cut. No line needs more memory than `_READ_BYTES`.

    Args:
      path: the file, which must exist; only what is added from now on is read.
    """

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close().
        self._file.seek(0, 2)
        self._partial = b""
        self._left_out = 0  # Bytes of the partial line that were dropped.

    def lines(self) -> list[str]:
        """Returns the lines that were completed since the last call."""
        return self._lines_of(self._file.read(_READ_BYTES))

    def rest(self) -> list[str]:
        """Returns the lines up to the end of the file, also a last one that is not complete."""
        found: list[str] = []
        while data := self._file.read(_READ_BYTES):
            found += self._lines_of(data)
        return [*found, self._take()] if self._partial else found

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _lines_of(self, data: bytes) -> list[str]:
        found = []
        *complete, rest = data.split(b"\n")
        for part in complete:
            self._add(part)
            found.append(self._take())
        self._add(rest)
        return found

    def _add(self, data: bytes) -> None:
        self._partial += data
        # What a progress bar has overwritten need not be kept. The last byte may be of "\r\n".
        start = self._partial.rfind(b"\r", 0, -1)
        if start >= 0 and self._partial[start + 1 :] != b"\r":
            self._partial, self._left_out = self._partial[start + 1 :], 0
        most = 4 * _LONGEST  # Bytes of a character in UTF-8.
        if len(self._partial) > most:
            self._left_out += len(self._partial) - most
            self._partial = self._partial[:most]

    def _take(self) -> str:
        raw, left_out = self._partial, self._left_out
        self._partial, self._left_out = b"", 0
        text = raw.decode(errors="replace").rstrip("\r\n")
        text = _CONTROL.sub("", text.rpartition("\r")[2])
        more = len(text) - _LONGEST
        if more <= 0 and not left_out:
            return text
        return f"{text[:_LONGEST]} ... (cut; the log has all of it)"
