"""Reads the lists of a large JSON file element by element, so that memory does not grow with it.

    for name, elements in read_json_lists("instances.json"):
        if name == "annotations":
            for element in elements:
                ...

The content is an object, as of COCO's files. Faults are those of `tf_frame.text_file.read_json`.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import (
    as_dict,
    may_have_halves,
    read_json,
    read_text,
    refuse_deep,
    refuse_halves,
)

_CHUNK_BYTES = 1 << 20
_BLANKS = re.compile(r"[ \t\n\r]*")
_GO_ON = ("", ".", "e", "E")
_BLANK = frozenset(("", " ", "\t", "\n", "\r"))
_decoder: Any = json.JSONDecoder(object_pairs_hook=as_dict)
# Without the wrapper `raw_decode`, a fifth of the time is saved.
_scan_once = _decoder.scan_once
_OTHER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def read_json_lists(path: str | os.PathLike[str]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yields the key of each list at the top of a JSON object, and an iterator of its elements.

    The elements must be taken before the next key.

    Args:
      path: the file.

    Raises:
      DataError: see `read_json`; at the place of the fault, and not before.
    """
    text, keys = _Text(_chunks(path)), set[str]()
    try:
        if text.next_character() != "{":
            text.value()
            return
        text.position += 1
        while (key := _next_key(text, keys)) is not None:
            if text.next_character() != "[":
                text.value()
                continue
            elements = _elements(path, text)
            yield key, elements
            for _ in elements:
                pass
    except (ValueError, RecursionError) as error:
        raise _explain(path, error) from None


def _next_key(text: _Text, keys: set[str]) -> str | None:
    """Returns the key before the next value of the object; None at its end."""
    if text.next_character() == "}":
        text.position += 1
        if text.has_more():
            text.fail("Extra data")
        return None
    if keys:
        text.expect(",")
    if text.next_character() != '"':
        text.fail("Expecting property name enclosed in double quotes")
    key = str(text.value())
    if key in keys:
        raise ValueError(f"an object has the key {brief(key)} twice")
    keys.add(key)
    text.expect(":")
    return key


def _elements(path: str | os.PathLike[str], text: _Text) -> Iterator[Any]:
    try:
        text.position += 1
        if text.next_character() != "]":
            yield text.value()
            while text.next_character() == ",":
                text.position += 1
                yield text.value()
        text.expect("]")
    except (ValueError, RecursionError) as error:
        raise _explain(path, error) from None


def _explain(path: str | os.PathLike[str], error: Exception) -> DataError:
    """Returns the error that `read_json` raises, for an error of the parser."""
    try:
        read_json(path)
    except DataError as fault:
        return fault
    return DataError(f"{short(path)} is no JSON: {error}")


class _Text:
    """The part of a text that is being parsed.

    Attributes:
      text: this part.
      position: the next character in it.
    """

    def __init__(self, chunks: Iterator[str]) -> None:
        self.text = ""
        self.position = 0
        self._chunks = chunks
        self._may_have_halves = False

    def next_character(self) -> str:
        """Skips blanks, and returns the character behind them without taking it."""
        if not self.has_more():
            self.fail("Expecting value")
        return self.text[self.position]

    def has_more(self) -> bool:
        """Skips blanks, and returns whether there is a character behind them."""
        while True:
            if self.text[self.position : self.position + 1] in _BLANK:
                match = _BLANKS.match(self.text, self.position)
                self.position = match.end() if match else self.position
            if self.position < len(self.text):
                return True
            if not self._read(1):
                return False

    def expect(self, character: str) -> None:
        """Takes a character.

        Raises:
          json.JSONDecodeError: another one comes.
        """
        if self.next_character() != character:
            self.fail(f"Expecting {brief(character)} delimiter")
        self.position += 1

    def value(self) -> Any:
        """Takes a value.

        Raises:
          ValueError, RecursionError: there is none.
        """
        self.next_character()
        num_chunks = 1
        while True:
            try:
                value, end = _scan_once(self.text, self.position)
            except (json.JSONDecodeError, StopIteration):
                if not self._read(num_chunks):
                    self.fail("Expecting value")
            else:
                # A number may go on behind this part, and then ends too early.
                is_cut = self.text[end : end + 1] in _GO_ON
                if not is_cut or not self._read(num_chunks):
                    if self._may_have_halves:
                        refuse_halves(value)
                    self.position = end
                    return value
            # A large value is not tried with every chunk.
            num_chunks *= 2

    def fail(self, message: str) -> None:
        """Raises the error of a text that is no JSON."""
        raise json.JSONDecodeError(message, self.text, self.position)

    def _read(self, num_chunks: int) -> bool:
        parts = [self.text[self.position :]]
        for _ in range(num_chunks):
            parts.append(next(self._chunks, ""))
        if not any(parts[1:]):
            return False
        self.text, self.position = "".join(parts), 0
        refuse_deep(self.text)
        self._may_have_halves = may_have_halves(self.text)
        return True


def _chunks(path: str | os.PathLike[str]) -> Iterator[str]:
    if not os.path.isfile(path) or os.path.getsize(path) <= _CHUNK_BYTES:
        yield read_text(path)
        return
    with open(path, "rb") as file:
        data = file.read(_CHUNK_BYTES)
        if data.startswith(_OTHER_MARKS):
            yield read_text(path)
            return
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        while data:
            yield decoder.decode(data)
            data = file.read(_CHUNK_BYTES)
        yield decoder.decode(b"", final=True)
