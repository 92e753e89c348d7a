"""JSON files that tf-frame keeps beside checkpoints: results, statuses, lists, requests.

    status = read_side_file(path, functools.partial(from_json, TaskStatus))

Such a file may be damaged: edited by hand, half copied, or from a failing disk. Every reader then
raises the same `DataError`. A run that does not need the file goes on with `read_or_set_aside`,
which keeps the damaged file as `PATH.damaged`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import math
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.errors import DataError
from tf_frame.text import brief, listed, short
from tf_frame.text_file import parse_json, read_text

_LOG = logging.getLogger("tf_frame")
DAMAGED = ".damaged"
T = TypeVar("T")
# What a function raises that gets JSON of another form than it expects.
FORM_ERRORS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_LARGEST = 2**63 - 1
# JSON takes some ten times as much memory when it is read.
_MOST_BYTES = 64 * 2**20


def read_side_file(path: str, parse: Callable[[Any], T]) -> T | None:
    """Returns the content of a JSON file, parsed; None without the file.

    Args:
      path: the file.
      parse: takes the JSON; may raise any of `FORM_ERRORS`.

    Raises:
      DataError: the file cannot be read, or is damaged.
    """
    if not file_system.exists(path):
        return None
    if file_system.file_size(path) > _MOST_BYTES:
        raise DataError(f"{short(path)} is damaged: it has more than {_MOST_BYTES // 2**20} MiB")
    return parse_side_file(path, read_text(path), parse)


def parse_side_file(path: str, text: str, parse: Callable[[Any], T]) -> T:
    """Parses the text of a JSON file; see `read_side_file`.

    Raises:
      DataError: the file is damaged.
    """
    try:
        return parse(parse_json(text, halves=True))
    except FORM_ERRORS as error:
        raise DataError(f"{short(path)} is damaged: {_reason(error)}") from None


def read_or_set_aside(
    path: str, parse: Callable[[Any], T], *, report: Callable[[str], None] = _LOG.warning
) -> T | None:
    """Returns the content of a JSON file that a run can do without; None if it is damaged.

    A damaged file is kept as `PATH.damaged`, for the run writes a new one.

    Args:
      path, parse: see `read_side_file`.
      report: takes a line about a damaged file.
    """
    try:
        return read_side_file(path, parse)
    except DataError as error:
        set_aside(path, error, report=report)
        return None


def set_aside(path: str, error: DataError, *, report: Callable[[str], None]) -> None:
    """Renames a damaged file to `PATH.damaged`, and reports it with its fault."""
    try:
        file_system.rename(path, path + DAMAGED)
        done = f"it is kept as {short(path)}{DAMAGED}"
    except OSError as failure:
        done = f"it cannot be renamed: {failure.strerror}"
    report(f"warning: {error}; {done}, and the run goes on without it")


def write_json(path: str, content: Any) -> None:
    """Writes a JSON file whole; NaN and infinity, which JSON lacks, are `null`."""
    write_file(path, json.dumps(finite(content), indent=2, allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """Returns a value of JSON with None for each NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_object(content: Any) -> dict[str, Any]:
    """Returns the content of a JSON file that is an object.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(content, dict):
        raise ValueError(f"{brief(content)} is no object")
    return content


def from_json(cls: type[T], content: Any) -> T:
    """Makes a dataclass with fields of simple types, or dicts of them, from a JSON object.

    Raises:
      ValueError: the content is no such object, or a value has another type than its field.
    """
    hints = _hints(cls)
    for name, value in as_object(content).items():
        if name not in hints:
            raise ValueError(f"{brief(name)} is unknown")
        if not _fits(value, hints[name]):
            raise ValueError(f"{name} is {brief(value)}")
    missing = [
        field.name
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        if field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
        and field.name not in content
    ]
    if missing:
        raise ValueError(f"it lacks {listed(missing)}")
    return cls(**content)


# Evaluating annotations takes longer than reading a small file.
_hints: Callable[[Any], dict[str, Any]] = functools.cache(typing.get_type_hints)


def _fits(value: Any, hint: Any) -> bool:
    if typing.get_origin(hint) is dict:
        of_values = typing.get_args(hint)[1]
        return isinstance(value, dict) and all(_fits(part, of_values) for part in value.values())
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if isinstance(value, bool) or value is None:
        return type(value) in kinds
    if isinstance(value, int):
        return bool({int, float} & set(kinds)) and abs(value) <= _LARGEST
    return type(value) in kinds and (not isinstance(value, float) or math.isfinite(value))


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {brief(error.args[0])}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return short(" ".join(str(error).split()) or type(error).__name__)
