"""Elements of the HTML page: every text and attribute is escaped, so that no name can break it.

    element("td", "a < b", class_="name") == '<td class="name">a &lt; b</td>'

The result is well-formed XML as well as HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

# Elements that HTML ends by themselves; any other has an end tag, also without content.
_VOID = ("meta", "wbr")
# Control characters, halves of surrogate pairs, and the two values that are no characters.
_REFUSED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """Returns an element.

    Args:
      tag: its name.
      children: what it contains; text is escaped, `Markup` is not.
      attributes: `class_` stands for `class`, `stroke_width` for `stroke-width`; None leaves one
        out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Markup(f"<{tag}{written}/>")
    return Markup(f"<{tag}{written}>{join(children)}</{tag}>")


def join(children: Iterable[str]) -> Markup:
    """Returns several elements and texts one after the other."""
    return Markup("".join(c if isinstance(c, Markup) else escaped(c) for c in children))


def escaped(text: str) -> Markup:
    """Returns text as HTML; a character that HTML does not allow becomes a question mark."""
    return Markup(html.escape(_REFUSED.sub("?", text)))


def table(
    heading: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()
) -> Markup:
    """Returns a table that scrolls sideways where the screen is narrower.

    Args:
      heading: titles of the columns.
      rows: cells of each row.
      right: numbers of the columns that are aligned to the right.
    """

    def line(tag: str, cells: Sequence[str]) -> Markup:
        return element(
            "tr",
            *(element(tag, c, class_="n" if i in right else None) for i, c in enumerate(cells)),
        )

    content = (
        element("thead", line("th", heading)),
        element("tbody", *(line("td", r) for r in rows)),
    )
    return element("div", element("table", *content), class_="scroll")
