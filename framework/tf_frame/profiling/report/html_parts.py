"""Parts that sections of the HTML page share: colours, rows with bars, folded tables."""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.profiling.report import html_charts as charts
from tf_frame.profiling.report.figures import COMMUNICATION, DEVICE, HOST, INPUT, LOOP, OVERHEAD
from tf_frame.profiling.report.html_elements import Markup, element, join, table
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, SUMMARY

COLORS = {
    HOST: "c0",
    INPUT: "c1",
    DEVICE: "c2",
    COMMUNICATION: "c3",
    HOOK: "c4",
    CHECKPOINT: "c5",
    OVERHEAD: "c6",
    LOOP: "c7",
    SUMMARY: "c8",
}
# Rows that are seen at once, and all with those that a click shows.
SHOWN, MOST = 12, 200


def section(title: str, *content: str) -> Markup:
    """Returns a card with a heading."""
    return element("section", element("h2", title), *content)


def pair(first: Markup, second: Markup) -> Markup:
    """Returns two cards side by side where the screen is wide enough."""
    return (
        element("div", first, second, class_="pair") if first and second else join([first, second])
    )


def named(name: str, color: str) -> Markup:
    """Returns a name with its colour before it."""
    return join([element("span", class_=f"swatch {color}"), name])


def with_bar(name: str, value: float, most: float, color: str) -> Markup:
    """Returns a name above a bar, whose length is the part of `most`.

    Names of operations break after slashes where the screen is narrow.
    """
    *scopes, last = name.split("/")
    parts = [part for scope in scopes for part in (f"{scope}/", element("wbr"))]
    return element("div", *parts, last, charts.bar(value, most, color, title=name), class_="wide")


def folded(
    title: str,
    heading: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int],
    summary: Sequence[Sequence[str]] = (),
) -> Markup:
    """Returns a section with the first rows; a click shows more; empty if there are none.

    Rows beyond `MOST` are only counted, which bounds the size of the page.

    Args:
      title: the heading of the section.
      heading: titles of the columns.
      rows: cells of each row.
      right: numbers of the columns that are aligned to the right.
      summary: sums of rows, of which the first are seen at once instead.
    """
    if not rows:
        return Markup("")
    content = [table(heading, (summary or rows)[:SHOWN], right=right)]
    more = rows[0 if summary else SHOWN : MOST]
    if more:
        label = element(
            "summary", f"{len(more)} {'one by one' if summary else 'more'}", class_="soft"
        )
        content.append(element("details", label, table(heading, more, right=right)))
    if len(rows) > MOST:
        content.append(
            element("p", f"{len(rows) - MOST} smaller ones are left out.", class_="soft")
        )
    return section(title, *content)
