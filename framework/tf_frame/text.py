"""Formats text for tables and errors: figures, values, lists, columns, sizes in bytes.

Names of files and classes come from strangers: `printable` keeps them from steering a terminal, and
`spreadsheet_cell` from being run by a spreadsheet. A message quotes what others wrote by `brief`
(in quotes, as Python writes a value), `short` and `short_word` (without quotes) or `listed`
(names), so that no input fills a screen.
"""

from __future__ import annotations

import itertools
import re
import reprlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from tf_frame.text_width import cell_width, terminal_width, wrapped

# Control characters, line ends of Unicode, marks that override the direction of a text, halves of
# characters, which stand for bytes of a file name that are no text, and what is no character.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
# Spreadsheets run a cell that begins so; also with the wide forms of East Asia. The quotes are of
# this module: a second one keeps two different cells different.
_FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
# Characters of a value that a message quotes; of a path or a sentence; of a list of names.
_LONGEST_VALUE, _LONGEST_TEXT, _LONGEST_LIST = 80, 140, 140
# Spaces between columns; widths below which no column is wrapped, and the first one not narrowed.
_GAP, _LEAST_WRAPPED, _LEAST_FIRST = 2, 20, 8
# Python refuses to write longer whole numbers as text.
_LONGEST_NUMBER_BITS = 10_000
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# The steps of a smaller model take their time elsewhere.
_LEAST_FLOPS = 1e8


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
    """Returns a word of the user without quotes, such as the name of an option.

    Args:
      text: the word, or an object with a text; above 80 characters the middle is left out.
    """
    return short(text, _LONGEST_VALUE)


def listed(names: Iterable[Any], *, none: str = "none") -> str:
    """Returns names with commas; of a long list the first ones, and the number of the others.

    Args:
      names: the names.
      none: the result without any name.
    """
    texts = [short_word(name) for name in names]
    shown, length = 0, 0
    while shown < len(texts) and (not shown or length + len(texts[shown]) <= _LONGEST_LIST):
        length, shown = length + len(texts[shown]) + 2, shown + 1
    more = f" and {len(texts) - shown} more" if shown < len(texts) else ""
    return f"{', '.join(texts[:shown])}{more}" or none


def shortened(text: str, longest: int) -> str:
    """Returns a text with at most some characters: its beginning, and the end of a long one.

    Args:
      text: the text.
      longest: largest number of characters.
    """
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
    """Returns the first lines, indented, and the number of omitted lines.

    Args:
      lines: the lines.
      shown: largest number of lines that are shown.
    """
    more = [f"and {len(lines) - shown} more"] if len(lines) > shown else []
    return "\n".join(f"  {line}" for line in [*lines[:shown], *more])


def figure(value: float) -> str:
    """Returns a loss or metric with four decimals, or a tiny value in scientific notation."""
    return f"{value:.3e}" if 0 < abs(value) < 1e-4 else f"{value:.4f}"


def columns(rows: Iterable[Sequence[str]], *, indent: int = 2, right: Collection[int] = ()) -> str:
    """Lays rows out in columns as wide as their widest cell, or narrower to fit the terminal.

    If a line would be too long, cells are wrapped between words, the widest ones first. Where that
    does not suffice, a long first cell, such as the name of a variable, has a line of its own.

    Args:
      rows: cells of each row; a row of a single cell, such as a heading, takes whole lines.
      indent: spaces before each row.
      right: numbers of the columns that are aligned to the right.
    """
    rows = list(rows)
    count = max(map(len, rows), default=0)
    room = terminal_width() - indent
    table = [row for row in rows if not len(row) == 1 < count]
    widths = _column_widths(table, room - _GAP * (count - 1))
    lines = [
        line
        for row in rows
        for line in (
            _cell_lines(row[0], room) if len(row) == 1 < count else _row_lines(row, widths, right)
        )
    ]
    return "\n".join((" " * indent + line).rstrip() for line in lines)


def _column_widths(table: Sequence[Sequence[str]], room: int) -> list[int]:
    """Returns the widths of columns, of together at most `room` cells if the words allow it."""
    widths = [max(map(cell_width, column)) for column in zip(*table, strict=True)]
    if sum(widths) <= room:
        return widths
    *columns_before, _ = zip(*table, strict=True)
    # A long word in the last column, such as an address, disturbs no other cell.
    words = [*(max(map(_longest_word, column)) for column in columns_before), 0]
    least = [min(w, max(word, _LEAST_WRAPPED)) for w, word in zip(widths, words, strict=True)]
    while sum(widths) > room and widths != least:
        spare = [width if width > low else 0 for width, low in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    widths[0] -= min(max(sum(widths) - room, 0), max(widths[0] - _LEAST_FIRST, 0))
    return widths


def _longest_word(cell: str) -> int:
    return max(map(cell_width, cell.split()), default=0)


def _row_lines(
    row: Sequence[str], widths: Sequence[int], right: Collection[int] = ()
) -> Iterator[str]:
    """Yields the lines of a row."""
    cells = [_cell_lines(cell, width) for cell, width in zip(row, widths, strict=True)]
    if len(row) > 1 and max(map(cell_width, cells[0])) > widths[0]:
        yield from cells[0]
        cells[0] = [""]
    for parts in itertools.zip_longest(*cells, fillvalue=""):
        yield (" " * _GAP).join(
            " " * (width - cell_width(part)) + part
            if i in right
            else part + " " * (width - cell_width(part))
            for i, (part, width) in enumerate(zip(parts, widths, strict=True))
        )


def _cell_lines(cell: str, width: int) -> list[str]:
    if cell_width(cell) <= width:
        return [cell]
    indent = " " * (len(cell) - len(cell.lstrip()))
    return wrapped(cell, width, first=indent, rest=indent)


def gflops_text(flops_per_sec: float | None, peak: float | None, *, of: str = "") -> str:
    """Returns a rate such as `12.3 GFLOP/s (34 %)`; empty if it is unknown, or next to nothing.

    Args:
      flops_per_sec: floating-point operations per second, or None.
      peak: those that the machine can reach, or None.
      of: words after the share.
    """
    if not flops_per_sec or flops_per_sec < _LEAST_FLOPS:
        return ""
    share = f" ({100 * flops_per_sec / peak:.0f} %{of})" if peak else ""
    return f"{flops_per_sec / 1e9:.3g} GFLOP/s{share}"


def readable_bytes(num_bytes: int) -> str:
    """Returns bytes in a unit that leaves at least 1 of it, such as `1.5 MiB`.

    Args:
      num_bytes: the number of bytes.
    """
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
