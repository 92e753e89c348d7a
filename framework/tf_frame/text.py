"""Formats what users read in tables and errors: figures, values, lists, columns, sizes in bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_PREFIXES = ("", "k", "M", "G", "T")


def short_repr(value: Any) -> str:
    """A value that a plugin returned, with its type, in one short line."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{text:.80} of type {type(value).__name__}"


def with_article(noun: str) -> str:
    """A noun with `a` or `an`, by its first letter."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def indented(lines: Sequence[str], shown: int = 8) -> str:
    """The first lines, indented, and the number of those left out."""
    more = [f"and {len(lines) - shown} more"] if len(lines) > shown else []
    return "\n".join(f"  {line}" for line in [*lines[:shown], *more])


def figure(value: float) -> str:
    """A loss or metric with four decimals, or in scientific notation where these would be zeros."""
    return f"{value:.3e}" if 0 < abs(value) < 1e-4 else f"{value:.4f}"


def columns(rows: Iterable[Sequence[str]], *, indent: int = 2, right: Collection[int] = ()) -> str:
    """Lays rows out in columns as wide as their widest cell.

    Args:
      rows: cells of each row.
      indent: spaces before each row.
      right: numbers of the columns that are aligned to the right.
    """
    rows = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        " " * indent
        + "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def readable_bytes(num_bytes: int) -> str:
    """Bytes in the largest unit of 1024s that leaves at least 1 of it, such as `1.5 MiB`."""
    value, unit = float(num_bytes), 0
    # A value that rounds to 1024.0 is 1.0 of the next unit.
    while round(value, 1) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{num_bytes} B"


def readable_count(count: float) -> str:
    """A count in the largest unit of 1000s that leaves at least 1 of it, such as `1.5 M`."""
    value, unit = float(count), 0
    while round(value, 1) >= 1000 and unit < len(_PREFIXES) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_PREFIXES[unit]}" if unit else f"{count:.0f}"
