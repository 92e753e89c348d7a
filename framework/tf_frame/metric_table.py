"""Text of the metrics of an evaluation: a line for each, and a table of those of each class.

Metrics such as `iou_road`, `iou_sky`, `recall_road` and `recall_sky` become

          iou     recall
    road  0.9     0.95
    sky   0.8     0.88
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tf_frame.text import columns, figure

# From here on, such as numbers of pixels, decimals say nothing.
_LARGE = 1000


def metrics_text(metrics: Mapping[str, str | float]) -> str:
    """Returns lines for the metrics, those of classes in a table below.

    Args:
      metrics: name -> value, or the text to show for it.
    """
    kinds, classes = classwise(metrics)
    in_table = {f"{kind}_{name}" for kind in kinds for name in classes}
    rows = [(name, _text(value)) for name, value in metrics.items() if name not in in_table]
    parts = [columns(rows)] if rows else []
    if kinds:
        cells = [_cells([metrics[f"{kind}_{name}"] for name in classes]) for kind in kinds]
        table = [["", *kinds], *([*row] for row in zip(classes, *cells, strict=True))]
        parts.append(columns(table, right=range(1, len(kinds) + 1)))
    return "\n".join(parts)


def classwise(names: Mapping[str, object]) -> tuple[Sequence[str], Sequence[str]]:
    """Finds metrics that are named KIND_CLASS, at least two kinds of the same classes.

    Args:
      names: the metrics by name; numbers only are counted.

    Returns:
      The kinds and the classes of the largest such group, in the order of the names; both
      empty without any.
    """
    classes_of: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for place in (place for place, letter in enumerate(name) if letter == "_"):
            classes_of[name[:place]].append(name[place + 1 :])
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, classes in classes_of.items():
        groups[tuple(classes)].append(kind)
    found = [
        (kinds, classes) for classes, kinds in groups.items() if min(len(kinds), len(classes)) > 1
    ]
    return max(found, key=lambda group: len(group[0]) * len(group[1]), default=((), ()))


def _cells(column: Sequence[str | float]) -> list[str]:
    """The texts of a column; whole numbers above 1, such as counts, have no decimals."""
    figures = [value for value in column if not isinstance(value, str)]
    if all(float(value).is_integer() for value in figures) and max(figures, default=0) > 1:
        return [value if isinstance(value, str) else f"{value:.0f}" for value in column]
    return [_text(value) for value in column]


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value >= _LARGE else figure(value)
