"""Parts that sections of the HTML page share: figures as text, rows with bars, folded tables."""

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
_COUNTS = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k"))


def ms_text(ms: float) -> str:
    """Returns milliseconds with three figures, and no more than two decimals."""
    if 0 < ms < 0.01:
        return "< 0.01 ms"
    decimals = 0 if ms >= 100 else 1 if ms >= 10 else 2
    return f"{ms:,.{decimals}f} ms"


def percent_text(share: float) -> str:
    """Returns a share from 0 to 1 in percent."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def count_text(count: float) -> str:
    """Returns a number in thousands, millions ... with three figures."""
    for size, unit in _COUNTS:
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:,.0f}" if count == int(count) else f"{count:.1f}"


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
    """Returns a name above a bar, whose length is the part of `most`."""
    return element("div", name, charts.bar(value, most, color, title=name), class_="wide")


def folded(
    title: str, heading: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int]
) -> Markup:
    """Returns a section with the first rows; a click shows more; empty if there are none.

    Rows beyond `MOST` are only counted, which bounds the size of the page.
    """
    if not rows:
        return Markup("")
    content = [table(heading, rows[:SHOWN], right=right)]
    more = rows[SHOWN:MOST]
    if more:
        summary = element("summary", f"{len(more)} more", class_="soft")
        content.append(element("details", summary, table(heading, more, right=right)))
    if len(rows) > MOST:
        content.append(
            element("p", f"{len(rows) - MOST} smaller ones are left out.", class_="soft")
        )
    return section(title, *content)
