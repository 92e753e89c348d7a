"""Fields of the records of annotation files, as programs write them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.text import brief
from tf_frame.text_file import parse_integer

Size = tuple[int, int]
# Ids that are as large, and larger ones, are texts.
LARGEST_ID = 2**62
_LARGEST_INT32 = 2**31 - 1


class RecordError(Exception):
    """A record that cannot be used; the message says what is wrong with it."""


def parse_numbers(words: Sequence[object], count: int, what: str) -> list[float]:
    """Converts the numbers of a record.

    Raises:
      RecordError: there are more or fewer than `count`, or one is none or not finite.
    """
    if not isinstance(words, (list, tuple)) or len(words) != count:
        seen = len(words) if isinstance(words, (list, tuple)) else repr(words)
        raise RecordError(f"{what} has {seen} instead of {count} numbers")
    try:
        values = [float(word) for word in words]  # type: ignore[arg-type]
    except OverflowError:
        raise RecordError(f"{what} has a number that is too large") from None
    except (TypeError, ValueError):
        raise RecordError(f"{what} {list(words)} has something that is no number") from None
    if not all(map(math.isfinite, values)):
        raise RecordError(f"{what} {values} has a number that is not finite")
    return values


def parse_id(record: Any, key: str = "id") -> int | str | None:
    """Returns the id in a record of JSON; None if it has none that can be one."""
    value = record.get(key) if isinstance(record, dict) else None
    if type(value) is not int:
        try:
            value = parse_integer(value)
        except ValueError:
            return value if isinstance(value, str) else None
    return value if -LARGEST_ID < value < LARGEST_ID else str(value)


def parse_size(record: Mapping[str, Any]) -> Size:
    """Returns `height` and `width` of a record of JSON; 0, 0 if it does not say both."""
    try:
        height, width = parse_integer(record.get("height")), parse_integer(record.get("width"))
    except ValueError:
        return 0, 0
    if height <= 0 or width <= 0:
        return 0, 0
    return min(height, _LARGEST_INT32), min(width, _LARGEST_INT32)


def parse_category(value: Any) -> int:
    """Returns the id of a category.

    Raises:
      RecordError: it is none.
    """
    try:
        id_ = parse_integer(value)
    except ValueError:
        id_ = LARGEST_ID
    if abs(id_) >= LARGEST_ID:
        raise RecordError(f"its category {brief(value)} is none of the file's")
    return id_


def parse_crowd(value: Any) -> bool:
    """Returns whether an `iscrowd`, which may be missing, says that an object is a crowd.

    Raises:
      RecordError: it says neither.
    """
    if value is None or isinstance(value, bool):
        return bool(value)
    try:
        return parse_integer(value) != 0
    except ValueError:
        raise RecordError(f"its iscrowd {brief(value)} is neither 0 nor 1") from None
