"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Lays rows out in columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def some(lines: Sequence[str], shown: int = 8) -> str:
    """The first lines, indented, and how many more there are."""
    told = list(lines[:shown])
    if len(lines) > shown:
        told.append(f"and {len(lines) - shown} more")
    return "\n".join(f"  {line}" for line in told)
