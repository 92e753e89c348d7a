"""Formats text for tables and errors: figures, values, lists, columns, sizes in bytes.

Names of files and classes come from strangers: `printable` keeps them from steering a terminal, and
`spreadsheet_cell` from being run by a spreadsheet. A message quotes what others wrote by `brief`
(in quotes, as Python writes a value), `short` and `short_word` (without quotes) or `listed`
(names), so that no input fills a screen.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

# Control characters, line ends of Unicode, marks that override the direction of a text, halves of
# characters, which stand for bytes of a file name that are no text, and what is no character.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
# Spreadsheets run a cell that begins so; also with the wide forms of East Asia. The quotes are of
# this module: a second one keeps two different cells different.
_FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
# Characters of a value that a message quotes; of a path or a sentence; of a list of names.
_LONGEST_VALUE, _LONGEST_TEXT, _LONGEST_LIST = 80, 140, 140
# Python refuses to write longer whole numbers as text.
_LONGEST_NUMBER_BITS = 10_000
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def printable(text: str, *, keep: str = "") -> str:
    r"""Returns a text with control characters as escapes, such as `\u001b`; JSON stays JSON.

    Args:
      text: the text.
      keep: control characters that stay.
    """
    return _CONTROL.sub(
        lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text
    )


def spreadsheet_cell(value: Any) -> Any:
    """Returns a value for a cell of a table that spreadsheets open: a text is never a formula.

    A text that begins as a formula gets a quote before it, unless it is a number; control
    characters become escapes. Other values, such as numbers, stay.
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def short_repr(value: Any) -> str:
    """Returns a value of a plugin with its type, in one short line."""
    if value is None:
        return "None"
    return f"{brief(value)} of type {type(value).__name__}"


def brief(value: Any) -> str:
    """Returns a value of the user or of a file in one short line, in quotes if it is a text."""
    if isinstance(value, str):
        return shortened(repr(shortened(value, 8 * _LONGEST_VALUE)), _LONGEST_VALUE)
    return shortened(" ".join(_bounded.repr(value).split()), _LONGEST_VALUE)


def short(text: Any, longest: int = _LONGEST_TEXT) -> str:
    """Returns a text of the user without quotes, such as a path: printable, long ones cut.

    Args:
      text: the text, or an object with a text, such as a path or an error.
      longest: number of characters above which the middle is left out.
    """
    return shortened(printable(shortened(str(text), 8 * longest)), longest)


def short_word(text: Any) -> str:
    """Returns a word of the user without quotes, such as the name of an option; see `short`."""
    return short(text, _LONGEST_VALUE)


def listed(names: Iterable[Any], *, none: str = "none") -> str:
    """Returns names with commas; of a long list the first ones, and the number of the others."""
    texts = [short_word(name) for name in names]
    shown, length = 0, 0
    while shown < len(texts) and (not shown or length + len(texts[shown]) <= _LONGEST_LIST):
        length, shown = length + len(texts[shown]) + 2, shown + 1
    more = f" and {len(texts) - shown} more" if shown < len(texts) else ""
    return f"{', '.join(texts[:shown])}{more}" or none


def shortened(text: str, longest: int) -> str:
    """Returns a text with at most some characters: its beginning, and the end of a long one."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end - 3]}...{text[-end:]}"


class _Bounded(reprlib.Repr):
    """Writes values as `repr`, but never more than some thousand characters."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 100
        self.maxstring = self.maxother = 200

    def repr_int(self, x: int, level: int) -> str:
        """Returns a whole number, or the size of one that Python cannot write."""
        bits = x.bit_length()
        return f"a whole number of {bits} bits" if bits > _LONGEST_NUMBER_BITS else repr(x)


_bounded = _Bounded()


def with_article(noun: str) -> str:
    """Returns a noun with `a` or `an`, by its first letter."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def indented(lines: Sequence[str], shown: int = 8) -> str:
    """Returns the first lines, indented, and the number of omitted lines."""
    more = [f"and {len(lines) - shown} more"] if len(lines) > shown else []
    return "\n".join(f"  {line}" for line in [*lines[:shown], *more])


def figure(value: float) -> str:
    """Returns a loss or metric with four decimals, or a tiny value in scientific notation."""
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
    """Returns bytes in a unit that leaves at least 1 of it, such as `1.5 MiB`."""
    return _scaled(num_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def readable_count(count: float) -> str:
    """Returns a count in a unit that leaves at least 1 of it, such as `1.5 M`."""
    return _scaled(count, 1000, ("", "k", "M", "G", "T"))


def _scaled(number: float, base: int, units: Sequence[str]) -> str:
    value, unit = float(number), 0
    # A value that rounds to 1024.0 is 1.0 of the next unit.
    while round(value, 1) >= base and unit < len(units) - 1:
        value, unit = value / base, unit + 1
    return f"{value:.1f} {units[unit]}" if unit else f"{number:.0f} {units[0]}".rstrip()
