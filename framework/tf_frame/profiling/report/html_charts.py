"""Pictures of the HTML page, as inline SVG without scripts.

Positions across are percentages, so that a picture takes the width of the screen while its text
keeps its size. Colours are classes of `html_style`, which has those for light and dark screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tf_frame.profiling.report.html_elements import Markup, element, join

# Shares below have no room for a label within a bar on a phone.
_LABELLED = 0.09
_HEIGHT = 120
_TOP = 24  # room for labels above the bars


class Part(NamedTuple):
    """A part of a bar.

    Attributes:
      name: what it is.
      value: its length, in any unit.
      label: the value as text.
      color: class of its colour.
    """

    name: str
    value: float
    label: str
    color: str


def stacked_bar(title: str, parts: Sequence[Part]) -> Markup:
    """Returns one bar of all parts, in order, with the shares of those that are wide enough."""
    total = sum(part.value for part in parts) or 1.0
    shapes, left = [], 0.0
    for part in parts:
        share = part.value / total
        shapes.append(
            element(
                "rect",
                element("title", f"{part.name}: {part.label}"),
                x=_percent(left),
                y=0,
                width=_percent(share),
                height=40,
                class_=part.color,
            )
        )
        if share >= _LABELLED:
            middle = _percent(left + share / 2)
            shapes.append(_text(f"{100 * share:.0f} %", middle, 25, class_="inside"))
        left += share
    return _picture(title, shapes, height=40, class_="whole")


def bar(value: float, most: float, color: str, *, title: str) -> Markup:
    """Returns one bar of a list, whose longest bar has the value `most`."""
    share = min(max(value / most, 0.0), 1.0) if most > 0 else 0.0
    shape = element("rect", x=0, y=2, width=_percent(share), height=12, rx=2, class_=color)
    return _picture(title, [shape], height=16)


class Mark(NamedTuple):
    """A labelled line across a picture, such as the median."""

    value: float
    label: str


def columns(
    title: str,
    values: Sequence[float],
    names: Sequence[str],
    *,
    ends: tuple[str, str],
    mark: Mark | None = None,
    highlighted: Sequence[int] = (),
    labels: Sequence[str] = (),
) -> Markup:
    """Returns columns from zero.

    Args:
      title: for those who hear the page.
      values: height of each column.
      names: what a column says when the pointer is on it.
      ends: labels below the first and the last column.
      mark: a horizontal line.
      highlighted: numbers of the columns in the colour for attention.
      labels: text above each column.
    """
    most = max([*values, *([mark.value] if mark else [])], default=0.0) or 1.0
    room = 1 / max(len(values), 1)
    gap = room * (0.15 if len(values) <= 60 else 0.0)
    shapes = [
        element(
            "rect",
            element("title", name),
            x=_percent(i * room + gap / 2),
            y=_number(_y(value, most)),
            width=_percent(room - gap),
            height=_number(_TOP + _HEIGHT - _y(value, most)),
            class_="warn" if i in highlighted else "c0",
        )
        for i, (value, name) in enumerate(zip(values, names, strict=True))
    ]
    for i, label in enumerate(labels):
        shapes.append(_text(label, _percent((i + 0.5) * room), _y(values[i], most) - 4))
    shapes += _line(mark, most) if mark else []
    return _picture(title, [*shapes, *_axis(ends)], height=_TOP + _HEIGHT + 20)


def area(
    title: str, values: Sequence[float], most: float, *, ends: tuple[str, str], mark: Mark
) -> Markup:
    """Returns a filled curve of equally long pieces of time.

    Args:
      title: for those who hear the page.
      values: height of each piece.
      most: the value at the top.
      ends: labels below the beginning and the end.
      mark: a horizontal line.
    """
    most = max([most, *values]) or 1.0
    step = 1000 / max(len(values), 1)
    corners = ["M0,100"]
    for i, value in enumerate(values):
        height = _number(100 - 100 * value / most)
        corners.append(f"L{_number(i * step)},{height} L{_number((i + 1) * step)},{height}")
    # Only a nested picture may be stretched: its text would be too.
    curve = element(
        "svg",
        element("path", d=" ".join([*corners, "L1000,100 Z"]), class_="c0"),
        y=_TOP,
        width="100%",
        height=_HEIGHT,
        viewBox="0 0 1000 100",
        preserveAspectRatio="none",
    )
    shapes = [curve, *_line(mark, most), *_axis(ends)]
    return _picture(title, shapes, height=_TOP + _HEIGHT + 20)


def _line(mark: Mark, most: float) -> list[Markup]:
    """A dashed line, with its label above the picture, where no shape hides it."""
    y = _number(_y(mark.value, most))
    line = element("line", x1="0%", x2="100%", y1=y, y2=y, class_="mark")
    return [line, _text(f"┄ {mark.label}", "100%", 8, anchor="end")]


def _y(value: float, most: float) -> float:
    return _TOP + _HEIGHT * (1 - value / most)


def _axis(ends: tuple[str, str]) -> list[Markup]:
    bottom = _TOP + _HEIGHT
    return [
        element("line", x1="0%", x2="100%", y1=bottom, y2=bottom, class_="axis"),
        _text(ends[0], "0%", bottom + 15, anchor="start"),
        _text(ends[1], "100%", bottom + 15, anchor="end"),
    ]


def _text(
    text: str, x: str, y: float, *, anchor: str = "middle", class_: str | None = None
) -> Markup:
    return element("text", text, x=x, y=_number(y), text_anchor=anchor, class_=class_)


def _picture(
    title: str, shapes: Sequence[Markup], *, height: int, class_: str | None = None
) -> Markup:
    content = join([element("title", title), *shapes])
    return element("svg", content, role="img", width="100%", height=height, class_=class_)


def _percent(share: float) -> str:
    return f"{_number(100 * share)}%"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
