"""Curves of an HTML page, with hover and zoom: the only part that needs a script.

curves({"A": [(10, 0.5), (20, 0.7)]}) + script()
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources

from markupsafe import Markup

# Rules for the style sheet of the page.
CURVES_STYLE = """
figure.curves { margin: 0; }
figure.curves > svg { width: 100%; height: 230px; touch-action: pan-y; cursor: crosshair; }
figure.curves output { display: block; min-height: 1.5em; color: var(--soft); }
figure.curves button { float: right; }
.area { overflow: hidden; }
.line { fill: none; stroke-width: 2; background: none; }
.zoom { fill: var(--c6); opacity: .25; }
""" + "".join(f".line.c{n} {{ stroke: var(--c{n}); fill: none; }}\n" for n in range(9))
COLORS = 9
# Of the lines with the colours once more, and once again.
_DASHES = ("none", "6 3", "2 3")
_FIGURE = Markup(
    '<figure class="curves"><button type="button" hidden>whole range</button>'
    '<svg role="img" aria-label="{}"></svg><output></output>'
    '<script type="application/json">{}</script>'
    "<noscript>The curves need scripts; the tables have the figures.</noscript></figure>"
)


def curves(
    title: str, lines: Mapping[str, Sequence[tuple[int, float]]], order: Sequence[str]
) -> Markup:
    """Returns a chart of lines.

    Args:
      title: read to the blind.
      lines: label -> steps and values.
      order: all labels of the page, which decide the colours.
    """
    content = [
        {
            "label": label,
            "points": points,
            "color": color(order.index(label)),
            "dash": _DASHES[order.index(label) // COLORS % len(_DASHES)],
        }
        for label, points in lines.items()
    ]
    return _FIGURE.format(title, _script_json(content))


def color(number: int) -> str:
    """Returns the CSS class of the colour of a line."""
    return f"c{number % COLORS}"


def curves_script() -> Markup:
    """Returns the script, for the end of the body."""
    text = resources.files("tf_frame").joinpath("curves.js").read_text(encoding="utf-8")
    return Markup(f"<script>\n{text}</script>")


def _script_json(content: object) -> Markup:
    """Returns JSON that cannot end its element."""
    text = json.dumps(content, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
