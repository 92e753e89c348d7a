r"""Reads text, CSV, JSON and XML that users or other programs wrote: one behaviour for every input.

A byte order mark (UTF-8, UTF-16, UTF-32) decides the encoding, then the declaration of an XML file;
a text without either is UTF-8. Lines end at \n, \r\n or \r only: U+2028, U+0085 and a vertical tab
are content. Every fault is a `DataError` of one line.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from tf_frame.errors import DataError
from tf_frame.file_system import read_bytes
from tf_frame.text import brief, short, short_repr

AnyPath = str | os.PathLike[str]

# A mark of UTF-32 begins with one of UTF-16, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# They divide words, and around a name they are no part of it.
BLANKS = " \t"
_BLANK = re.compile(f"[{BLANKS}]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DECLARATION = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][\w.\-]*)["']""")
# The beginning of XML in UTF-16 without a byte order mark.
_UNMARKED_XML = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"))
# Programs write the name of an encoding and use a larger one.
_LARGER = {"gb2312": "gb18030", "gbk": "gb18030"}
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
# No format nests so deeply; a bracket of the text takes some sixty bytes of memory.
_DEPTH = 32
_DEEP = re.compile(rf"(?:[\[{{][ \t\n\r]*){{{_DEPTH}}}")
_WHOLE_NUMBER = re.compile(r"\s*([+-]?[0-9]+)(?:\.0*)?\s*")
# Above it, different whole numbers are the same float.
_EXACT_FLOATS = 2**53


def read_text(path: AnyPath) -> str:
    """Returns the text of a file.

    Args:
      path: the file.

    Raises:
      DataError: it is missing, or is no text.
    """
    return _decode(path, _read_bytes(path))


def read_lines(path: AnyPath) -> list[str]:
    """Returns the lines of a file, whole: with the blanks around their content.

    Args:
      path: the file.

    Raises:
      DataError: the file is missing, or is no text.
    """
    return split_lines(read_text(path))


def read_names(path: AnyPath) -> list[str]:
    """Returns the names in a file, a line each.

    Blanks and tabs around a name are no part of it; empty lines are left out.

    Args:
      path: the file.

    Raises:
      DataError: the file is missing, or is no text.
    """
    return [name for line in read_lines(path) if (name := line.strip(BLANKS))]


def split_lines(text: str) -> list[str]:
    """Splits a text at line ends; after the last one there is no further line."""
    lines = _LINE_END.split(text) if "\r" in text else text.split("\n")
    return lines if lines[-1] else lines[:-1]


def split_words(line: str) -> list[str]:
    """Splits a line at blanks and tabs; other white space of Unicode is content."""
    return [word for word in _BLANK.split(line) if word]


def read_csv(path: AnyPath) -> list[list[str]]:
    """Returns the cells of each row of a table with commas; a cell in quotes may have line ends.

    Args:
      path: the file.

    Raises:
      DataError: the file is missing, or is no such table.
    """
    try:
        return list(csv.reader(io.StringIO(read_text(path), newline="")))
    except csv.Error as error:
        raise DataError(f"{short(path)} is no CSV: {error}") from None


def is_unicode(text: str) -> bool:
    """Returns whether a text has no halves of characters, as names of files with other bytes do."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def normal_name(text: str) -> str:
    """Returns the form of a name for comparisons: one for every way to write accents (NFC).

    Files are opened by the name that they have.

    Args:
      text: the name.
    """
    return unicodedata.normalize("NFC", text)


def existing_form(path: Path) -> Path:
    """Returns a path with each name in the form that exists; as it is where there is none."""
    if str(path).isascii() or os.path.exists(path):
        return path
    folder = existing_form(path.parent)
    forms = [path.name, *(unicodedata.normalize(form, path.name) for form in ("NFC", "NFD"))]
    return next(
        (folder / name for name in forms if os.path.exists(folder / name)), folder / path.name
    )


def parse_integer(value: object) -> int:
    """Converts a whole number that a program may have written as text or as a float.

    Args:
      value: a value of a file, of any type.

    Raises:
      ValueError: the value is no whole number.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_FLOATS:
        return int(value)
    if isinstance(value, str) and (match := _WHOLE_NUMBER.fullmatch(value)):
        return int(match[1])
    raise ValueError(f"{short_repr(value)} is no whole number")


def read_json(path: AnyPath, *, finite: bool = False) -> Any:
    """Returns the content of a JSON file.

    Args:
      path: the file.
      finite: whether NaN and infinite numbers are refused.

    Raises:
      DataError: the file cannot be read, is no JSON, is nested too deeply, has a number of
        thousands of digits or half of a character, or an object has a key twice with different
        values.
    """
    try:
        return parse_json(read_text(path), finite=finite)
    except ValueError as error:
        raise DataError(f"{short(path)} is no JSON: {error}") from None


def parse_json(text: str, *, finite: bool = False, halves: bool = False) -> Any:
    """Returns the content of a JSON text.

    Args:
      text: the text.
      finite: whether NaN and infinite numbers are refused.
      halves: whether it may have halves of characters: bytes of a file name that are no text.

    Raises:
      ValueError: the reason why it is none; see `read_json`.
    """
    options: dict[str, Any] = {}
    if finite:
        options = {"parse_constant": _finite, "parse_float": _finite}
    try:
        refuse_deep(text)
        content = json.loads(text, object_pairs_hook=as_dict, **options)
        if not halves and may_have_halves(text):
            refuse_halves(content)
        return content
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: {error.msg}"
        reason = reason if text.strip() else "it is empty"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:  # Python converts at most 4300 digits.
        digits = "Exceeds the limit" in str(error)
        reason = "it has a number of thousands of digits" if digits else str(error)
    raise ValueError(reason)


def as_dict(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of a JSON file.

    Args:
      pairs: the keys and values, in the order of the file.

    Raises:
      ValueError: a key occurs twice with different values.
    """
    content = dict(pairs)
    if len(content) < len(pairs):
        for key, value in pairs:
            if value != content[key]:
                raise ValueError(f"an object has the key {brief(key)} twice, with different values")
    return content


def refuse_deep(text: str) -> None:
    """Refuses a JSON text with many brackets in a row.

    Raises:
      RecursionError: there are.
    """
    # Most texts have too few brackets, and counting them is quicker.
    if text.count("[") + text.count("{") >= _DEPTH and _DEEP.search(text):
        raise RecursionError


def may_have_halves(text: str) -> bool:
    """Returns whether a JSON text has escapes of halves of characters, which come in pairs."""
    return "\\u" in text and bool(_HALF.search(text))


def refuse_halves(content: Any) -> None:
    """Refuses half of a character in the content of a JSON file: no file or text can have it.

    Raises:
      ValueError: there is one.
    """
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"it has half of a character, {half}, without the other half") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {short(text, 40)} is not finite")
    return value


def read_xml(path: AnyPath) -> ElementTree.Element:
    """Returns the root of an XML file, in the encoding that the file declares.

    Entity declarations are refused: they can grow without bound or name other files.

    Args:
      path: the file.

    Raises:
      DataError: the file cannot be read, is no XML, or declares an entity.
    """
    text = _decode_xml(path, _read_bytes(path))
    try:
        if "<!DOCTYPE" in text:
            _refuse_entities(path, text)
        return ElementTree.fromstring(text.lstrip())
    except (ElementTree.ParseError, expat.ExpatError) as error:
        reason = error if text.strip() else "it is empty"
        raise DataError(f"{short(path)} is no XML: {reason}") from None


def _refuse_entities(path: AnyPath, text: str) -> None:
    def refuse(name: str, *_: object) -> None:
        raise DataError(
            f"{short(path)} declares the entity {brief(name)}, and entities are not read: remove "
            "the declaration, and write the text itself"
        )

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = refuse
    parser.Parse(text.lstrip().encode(), True)


def _decode_xml(path: AnyPath, data: bytes) -> str:
    encoding = next((name for start, name in _UNMARKED_XML if data.startswith(start)), "")
    if not encoding:
        declared = _DECLARATION.match(data)
        encoding = declared[1].decode().lower() if declared else "utf-8"
        # A declaration in single bytes proves that the text is not in UTF-16, as .NET says.
        encoding = "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding
    return _decode(path, data, encoding)


def _decode(path: AnyPath, data: bytes, encoding: str = "utf-8") -> str:
    start = 0
    for mark, encoding_with_mark in _MARKS:
        if data.startswith(mark):
            start, encoding = len(mark), encoding_with_mark
            break
    try:
        text = data[start:].decode(_LARGER.get(encoding, encoding))
    except UnicodeDecodeError as error:
        place = start + error.start
        raise DataError(
            f"{short(path)} cannot be read: it is no text in {encoding.upper()}, first at byte "
            f"{place}, {data[place]:#04x}; save it as UTF-8"
        ) from None
    except LookupError:
        raise DataError(
            f"{short(path)} cannot be read: it declares the encoding {short(encoding, 40)}, "
            "which Python does not know; save it as UTF-8"
        ) from None
    if "\0" in text:
        place = text.index("\0")
        raise DataError(
            f"{short(path)} cannot be read: character {place} is a zero, so it is no text, or is "
            "in UTF-16 without a byte order mark; save it as UTF-8"
        )
    return text


def _read_bytes(path: AnyPath) -> bytes:
    try:
        return read_bytes(os.fspath(path))
    except OSError as error:
        raise DataError(f"{short(path)} cannot be read: {error.strerror}") from None
    except ValueError as error:  # A name that no file can have.
        raise DataError(f"{brief(str(path))} cannot be read: {error}") from None
