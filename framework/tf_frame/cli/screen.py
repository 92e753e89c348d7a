"""What the user sees: lines, tables and a little emphasis, plain when redirected."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence


def emphasised(text: str) -> str:
    """Bold on a terminal, plain elsewhere or with NO_COLOR set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[1m{text}\033[0m"


def say(text: str) -> None:
    """Prints a line at once, also into a file."""
    print(text, flush=True)


def columns(rows: Iterable[Sequence[str]], *, indent: int = 2) -> str:
    """Lays rows out in columns as wide as their widest cell."""
    rows = [tuple(row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        " " * indent
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
