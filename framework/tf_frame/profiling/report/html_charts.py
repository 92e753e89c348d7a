"""Charts of the HTML page, as inline SVG without scripts.

Horizontal positions are percentages, so that a chart takes the width of the screen while its text
keeps its size. Colours are CSS classes of the style sheet of `tf_frame.html_page`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

# On a phone, a bar with a smaller share has no room for its label.
_LABELLED = 0.09
_HEIGHT = 120
_TOP = 24  # room for labels above the columns
_CHART = Markup('<svg role="img" width="100%" height="{}" class="{}"><title>{}</title>{}</svg>')
_RECT = Markup('<rect x="{}" y="{}" width="{}" height="{}" class="{}">{}</rect>')
_TITLE = Markup("<title>{}</title>")  # shown under the pointer, and read to the blind
_TEXT = Markup('<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>')
_LINE = Markup('<line x1="0%" x2="100%" y1="{0}" y2="{0}" class="{1}"/>')
# Only a nested picture may be stretched: its text would be stretched, too.
_CURVE = Markup(
    '<svg y="{}" width="100%" height="{}" viewBox="0 0 1000 100" preserveAspectRatio="none">'
    '<path d="{}" class="c0"/></svg>'
)


class Part(NamedTuple):
    """A part of a stacked bar: its value, in any unit and as text, and the class of its colour."""

    name: str
    value: float
    label: str
    color: str


class Mark(NamedTuple):
    """A labelled line across a chart, such as the median."""

    value: float
    label: str


def stacked_bar(title: str, parts: Sequence[Part]) -> Markup:
    """Returns one bar of all parts, in order; wide parts are labelled with their shares."""
    total = sum(part.value for part in parts) or 1.0
    shapes, x = [], 0.0
    for part in parts:
        share = part.value / total
        name = _TITLE.format(f"{part.name}: {part.label}")
        shapes.append(_RECT.format(_percent(x), 0, _percent(share), 40, part.color, name))
        if share >= _LABELLED:
            middle = _percent(x + share / 2)
            shapes.append(_TEXT.format(middle, 25, "middle", "inside", f"{100 * share:.0f} %"))
        x += share
    return _CHART.format(40, "stacked", title, Markup().join(shapes))


def bar(value: float, longest: float, color: str, *, title: str) -> Markup:
    """Returns one bar of a list; `longest` is the value of the longest bar."""
    share = min(max(value / longest, 0.0), 1.0) if longest > 0 else 0.0
    return _CHART.format(16, "", title, _RECT.format(0, 2, _percent(share), 12, color, ""))


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
      title: read to the blind.
      values, names, labels: height of each column, its text under the pointer, and above it.
      ends: labels below the first and the last column.
      mark: a horizontal line.
      highlighted: numbers of the columns in the colour for attention.
    """
    highest = max([*values, *([mark.value] if mark else [])], default=0.0) or 1.0
    room = 1 / max(len(values), 1)
    gap = room * (0.15 if len(values) <= 60 else 0.0)
    shapes = []
    for i, (value, name) in enumerate(zip(values, names, strict=True)):
        top = _y(value, highest)
        place = _percent(i * room + gap / 2), _number(top)
        size = _percent(room - gap), _number(_TOP + _HEIGHT - top)
        color = "warn" if i in highlighted else "c0"
        shapes.append(_RECT.format(*place, *size, color, _TITLE.format(name)))
    for i, label in enumerate(labels):
        above = _number(_y(values[i], highest) - 4)
        shapes.append(_TEXT.format(_percent((i + 0.5) * room), above, "middle", "", label))
    return _with_axis(title, shapes, highest, ends, mark)


def area(
    title: str, values: Sequence[float], highest: float, *, ends: tuple[str, str], mark: Mark
) -> Markup:
    """Returns a filled curve of equally long intervals of time, up to `highest`; see `columns`."""
    highest = max([highest, *values]) or 1.0
    step = 1000 / max(len(values), 1)
    corners = ["M0,100"]
    for i, value in enumerate(values):
        height = _number(100 - 100 * value / highest)
        corners.append(f"L{_number(i * step)},{height} L{_number((i + 1) * step)},{height}")
    curve = _CURVE.format(_TOP, _HEIGHT, " ".join([*corners, "L1000,100 Z"]))
    return _with_axis(title, [curve], highest, ends, mark)


def _with_axis(
    title: str, shapes: list[Markup], highest: float, ends: tuple[str, str], mark: Mark | None
) -> Markup:
    """Adds the mark, with its label above the chart, where no shape hides it, and the axis."""
    bottom = _TOP + _HEIGHT
    if mark:
        shapes.append(_LINE.format(_number(_y(mark.value, highest)), "mark"))
        shapes.append(_TEXT.format("100%", 8, "end", "", f"┄ {mark.label}"))
    shapes += [
        _LINE.format(bottom, "axis"),
        _TEXT.format("0%", bottom + 15, "start", "", ends[0]),
        _TEXT.format("100%", bottom + 15, "end", "", ends[1]),
    ]
    return _CHART.format(bottom + 20, "", title, Markup().join(shapes))


def _y(value: float, highest: float) -> float:
    return _TOP + _HEIGHT * (1 - value / highest)


def _percent(share: float) -> str:
    return f"{_number(100 * share)}%"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
