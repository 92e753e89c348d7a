"""Parts of an HTML page: sections, tiles, tables; every text that is formatted in is escaped.

SECTION.format("Speed", table(rows, {"run": lambda row: row.name}))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

# Title of a column -> its cell in a row.
Columns = Mapping[str, Callable[[Any], str]]

# Rows that are seen at once, and the most rows that a click shows: this bounds the page's size.
SHOWN, _MOST = 12, 200

SECTION = Markup("<section><h2>{}</h2>{}</section>")
PAIR = Markup('<div class="pair">{}{}</div>')  # side by side where the screen is wide enough
TILES = Markup('<div class="tiles">{}</div>')
TILE = Markup('<div class="tile"><b>{}</b><small>{}</small></div>')
GOOD = Markup('<div class="good">{}</div>')
HINT = Markup('<div class="hint">{}</div>')
NOTE = Markup('<p class="soft">{}</p>')
NAMED = Markup('<span class="swatch {}"></span>{}')
# Where the screen is narrower, a table scrolls sideways.
_TABLE = Markup('<div class="scroll"><table><thead>{}</thead><tbody>{}</tbody></table></div>')
_DETAILS = Markup('<details><summary class="soft">{}</summary>{}</details>')


def folded(
    title: str,
    rows: Sequence[Any],
    columns: Columns,
    *,
    summary: Sequence[Any] = (),
    text_columns: Sequence[str] = (),
) -> Markup:
    """Returns a section with the first rows, or with their summary; a click shows more.

    It is empty without rows.
    """
    if not rows:
        return Markup()
    content = table((summary or rows)[:SHOWN], columns, text_columns=text_columns)
    more = rows[0 if summary else SHOWN : _MOST]
    if more:
        label = f"{len(more)} {'one by one' if summary else 'more'}"
        content += _DETAILS.format(label, table(more, columns, text_columns=text_columns))
    if len(rows) > _MOST:
        content += NOTE.format(f"{len(rows) - _MOST} smaller ones are left out.")
    return SECTION.format(title, content)


def table(rows: Sequence[Any], columns: Columns, *, text_columns: Sequence[str] = ()) -> Markup:
    """Returns a table.

    Args:
      rows: passed to the functions of the columns.
      columns: title -> function that returns a cell.
      text_columns: titles of columns of text; the first column is one, others have figures, which
        are aligned to the right.
    """
    figure = Markup(' class="n"')
    attributes = ["", *("" if title in text_columns else figure for title in list(columns)[1:])]

    def line(tag: str, cells: Sequence[str]) -> Markup:
        pairs = zip(attributes, cells, strict=True)
        written = (Markup("<{0}{1}>{2}</{0}>").format(tag, *pair) for pair in pairs)
        return Markup("<tr>{}</tr>").format(Markup().join(written))

    body = (line("td", [cell(row) for cell in columns.values()]) for row in rows)
    return _TABLE.format(line("th", list(columns)), Markup().join(body))
