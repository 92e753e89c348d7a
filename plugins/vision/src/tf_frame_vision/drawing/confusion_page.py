"""Confusions of many classes: a list of the most frequent ones, and a page with a large matrix.

The page has no scripts: buttons choose the size of the cells, and a cell tells its figures under
the mouse. Colours are those of `confusion_picture`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_frame.html_page import render_page
from tf_frame.text import columns
from tf_frame_vision.drawing.confusion_picture import shares, short_names

_IN_TEXT, _IN_PAGE = 20, 100
# Pixels of a cell; cells have figures from `_WITH_FIGURES` on.
_SIZES, _WITH_FIGURES = (2, 4, 8, 14, 24, 40), 24
# The page opens at the largest size at which the matrix has at most so many pixels.
_FIRST_VIEW = 1100
# Cells that a page has; a browser is slow with more.
_MOST_CELLS = 20_000
# The least share that its figure shows as more than 0.
_SHOWN = 0.005
_STYLE = """
body { max-width: none; }
.sizes input { position: absolute; opacity: 0; }
.sizes label { padding: .1rem .5rem; border: 1px solid var(--line); border-radius: 6px; }
.sizes label { cursor: pointer; }
.sizes input:checked + label { background: var(--c0); color: var(--inside); }
.sizes input:focus-visible + label { outline: 2px solid var(--text); }
.matrix {
  --cell: 14px;
  display: grid; grid-template-columns: max-content max-content; overflow: auto; max-height: 85vh;
  margin-top: .7rem; line-height: 1; font-size: min(var(--cell) * .8, 13px);
}
.matrix > div { background: var(--card); display: flex; z-index: 1; }
.columns { position: sticky; top: 0; }
.rows { position: sticky; left: 0; flex-direction: column; }
.matrix .corner { position: sticky; top: 0; left: 0; z-index: 2; align-items: end; }
.columns span { width: var(--cell); writing-mode: vertical-rl; transform: rotate(180deg); }
.columns span, .rows span { white-space: nowrap; overflow: hidden; padding: 0 4px; }
.columns span { padding: 4px 0; display: flex; align-items: center; }
.rows span { height: var(--cell); display: flex; align-items: center; justify-content: end; }
.matrix svg { width: calc(var(--count) * var(--cell)); height: calc(var(--count) * var(--cell)); }
.matrix svg { overflow: hidden; border: 1px solid var(--line); box-sizing: content-box; }
.matrix svg text { display: none; font-size: .36px; fill: var(--text); stroke: none; }
.matrix svg text { text-anchor: middle; pointer-events: none; }
.right rect { fill: var(--c0); }
.wrong rect { fill: var(--warn); }
rect:hover { stroke: var(--text); stroke-width: .08; }
"""


class Confusion(NamedTuple):
    """A pair of a label and another prediction.

    Attributes:
      label, prediction: names of the classes.
      number: number of examples, or pixels, with this label and prediction.
      total: number of those with this label.
    """

    label: str
    prediction: str
    number: int
    total: int

    @property
    def share(self) -> str:
        """The share of the label in per cent."""
        return f"{self.number / self.total:.1%}"


def top_confusions(matrix: NDArray[Any], names: Sequence[str], most: int) -> list[Confusion]:
    """Returns the most frequent confusions, the most frequent one first.

    Args:
      matrix: `[num_classes, num_classes]`, rows are labels.
      names: a name for each class.
      most: the largest number of confusions.
    """
    wrong = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = (divmod(place, len(matrix)) for place in order.tolist())
    totals = matrix.sum(axis=1)
    return [
        Confusion(
            names[label], names[prediction], int(wrong[label, prediction]), int(totals[label])
        )
        for label, prediction in pairs
        if wrong[label, prediction] > 0
    ]


def confusions_text(matrix: NDArray[Any], class_names: Sequence[str]) -> str:
    """Returns the most frequent confusions as lines.

    Args:
      matrix, class_names: see `confusion_picture`.
    """
    confusions = top_confusions(matrix, short_names(class_names, len(matrix)), _IN_TEXT)
    if not confusions:
        return "no class was taken for another one\n"
    rows = [
        (f"{one.label} -> {one.prediction}", f"{one.number}", f"of {one.total}", one.share)
        for one in confusions
    ]
    title = "most frequent confusions: label -> prediction"
    return f"{title}\n{columns(rows, right=(1, 2, 3))}\n"


def confusion_page(matrix: NDArray[Any], class_names: Sequence[str]) -> str:
    """Returns an HTML page with the matrix, in sizes to choose, and the most frequent confusions.

    Args:
      matrix, class_names: see `confusion_picture`.
    """
    names = [html.escape(name) for name in short_names(class_names, len(matrix))]
    cells = _chosen_cells(matrix)
    left_out = np.count_nonzero(matrix) - len(cells)
    note = f" {left_out} cells of the smallest shares are left out." if left_out > 0 else ""
    drawn = f"<section>{_sizes(len(matrix))}{_matrix(matrix, names, cells)}</section>"
    return render_page(
        title="Confusion matrix",
        subtitle=f"{len(matrix)} classes. Rows are labels, columns predictions, each cell a share "
        f"of its label; right answers are blue, wrong ones red.{note}",
        body=drawn + _table(top_confusions(matrix, names, _IN_PAGE)),
        style=_STYLE + "".join(map(_size_rule, _SIZES)),
    )


def _chosen_cells(matrix: NDArray[Any]) -> list[tuple[int, int]]:
    """Returns row and column of the cells that are drawn: those of the largest shares."""
    share = shares(matrix)
    order = np.argsort(-share, axis=None, kind="stable")[:_MOST_CELLS]
    places = order[share.ravel()[order] > 0].tolist()
    return [divmod(place, len(matrix)) for place in places]


def _sizes(count: int) -> str:
    """Returns the buttons of the sizes; the matrix follows them, as the style sheet expects."""
    fitting = [size for size in _SIZES if size * count <= _FIRST_VIEW]
    first = max(fitting, default=min(_SIZES))
    return "".join(
        f'<span class="sizes"><input type="radio" name="size" id="size{size}"'
        f'{" checked" if size == first else ""}/><label for="size{size}">{size} px</label></span> '
        for size in _SIZES
    )


def _size_rule(size: int) -> str:
    rule = f"section:has(#size{size}:checked) .matrix {{ --cell: {size}px; }}\n"
    if size >= _WITH_FIGURES:
        rule += f"section:has(#size{size}:checked) .matrix svg text {{ display: inline; }}\n"
    return rule


def _matrix(matrix: NDArray[Any], names: Sequence[str], cells: Sequence[tuple[int, int]]) -> str:
    count, labels = len(matrix), "".join(f"<span>{name}</span>" for name in names)
    right = "".join(_cells(matrix, names, [cell for cell in cells if cell[0] == cell[1]]))
    wrong = "".join(_cells(matrix, names, [cell for cell in cells if cell[0] != cell[1]]))
    return (
        f'<div class="matrix" style="--count: {count}"><div class="corner">label</div>'
        f'<div class="columns">{labels}</div><div class="rows">{labels}</div>'
        f'<svg viewBox="0 0 {count} {count}" role="img" aria-label="confusion matrix">'
        f'<g class="right">{right}</g><g class="wrong">{wrong}</g></svg></div>'
    )


def _cells(
    matrix: NDArray[Any], names: Sequence[str], cells: Sequence[tuple[int, int]]
) -> Iterator[str]:
    share, totals = shares(matrix), matrix.sum(axis=1)
    for row, column in cells:
        part = float(share[row, column])
        # The square root makes a few wrong answers visible.
        yield (
            f'<rect x="{column}" y="{row}" width="1" height="1" fill-opacity="{part**0.5:.2f}">'
            f"<title>{names[row]} \u2192 {names[column]}: {int(matrix[row, column])} of "
            f"{int(totals[row])} ({part:.1%})</title></rect>"
        )
        if part >= _SHOWN:
            yield f'<text x="{column + 0.5}" y="{row + 0.63:.2f}">{part:.2f}</text>'


def _table(confusions: Sequence[Confusion]) -> str:
    if not confusions:
        return "<section><h2>No class was taken for another one</h2></section>"
    rows = "".join(
        f'<tr><td>{one.label}</td><td>{one.prediction}</td><td class="n">{one.number}</td>'
        f'<td class="n">{one.total}</td><td class="n">{one.share}</td></tr>'
        for one in confusions
    )
    heads = '<th>label</th><th>prediction</th><th class="n">count</th><th class="n">of</th>'
    return (
        "<section><h2>Most frequent confusions</h2>"
        f'<div class="scroll"><table><thead><tr>{heads}<th class="n">share</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )
