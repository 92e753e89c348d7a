"""Compares output that a document shows with output that a command has printed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
_PICTURE = re.compile(r"[█▁▂▃▄▅▆▇▏▎▍▌▋▊▉]+")


def missing_lines(
    shown: str, printed: str, *, numbers: float | None, lines: Sequence[str] = ()
) -> list[str]:
    """Returns the lines of a document that a command has not printed.

    Args:
      shown: the block; lines of three dots and commands after `$` are left out.
      printed: output of the command.
      numbers: largest difference of a number from the one shown, as a share of it; None: any.
      lines: patterns of the lines to compare; empty: all.
    """
    found = [_parts(line) for line in printed.splitlines()]
    return [
        line
        for line in _outputs(shown)
        if not lines or any(re.search(pattern, line) for pattern in lines)
        if not any(_agree(_parts(line), other, numbers) for other in found)
    ]


def commands(shown: str) -> str:
    """Returns the commands after `$`, with their continued lines, as a script."""
    return "\n".join(re.findall(r"^\$ ((?:.*\\\n)*.*)$", shown, re.MULTILINE))


def _outputs(shown: str) -> list[str]:
    text = re.sub(r"^\$ (?:.*\\\n)*.*\n?", "", shown, flags=re.MULTILINE)
    return [line for line in text.splitlines() if line.strip() not in ("", "...")]


def _parts(line: str) -> tuple[list[str], list[float]]:
    """Returns the words of a line with numbers and bars as signs, and the numbers."""
    line = _PICTURE.sub("", line)
    numbers = [float(each.replace(",", "")) for each in _NUMBER.findall(line)]
    return _NUMBER.sub("0", line).split(), numbers


def _agree(
    shown: tuple[list[str], list[float]], other: tuple[list[str], list[float]], share: float | None
) -> bool:
    if shown[0] != other[0]:
        return False
    pairs = zip(*(each[1] for each in (shown, other)), strict=True)
    return share is None or all(abs(a - b) <= share * abs(a) + 1e-9 for a, b in pairs)
