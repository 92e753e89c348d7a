"""Text of evaluation results: no other module formats them.

    evaluation at step 500  mean_iou 0.8500  loss 0.3120        result_line: during training

    evaluation at step 500                                      result_table: at the end
      mean_iou  0.8500
      loss      0.3120
            iou     recall
      road  0.9000  0.9500
      sky   0.8000  0.8800

Metrics that a model declares by `ClassMetric` are the rows and columns of the second table. The
line leaves them out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tf_frame.plugin.class_metric import ClassMetric
from tf_frame.text import columns, figure

# Decimals of larger values, such as numbers of pixels, say nothing.
_LARGE = 1000


def result_line(step: int, metrics: Mapping[str, float]) -> str:
    """Returns one line with the metrics of all classes together."""
    texts = [
        metric_text(name, value)
        for name, value in metrics.items()
        if not isinstance(name, ClassMetric)
    ]
    return f"evaluation at step {step}  {'  '.join(texts)}"


def metric_text(name: str, value: float) -> str:
    """Returns one metric within a line: `mean_iou 0.8500`."""
    return f"{name} {figure(value)}"


def result_table(step: int, metrics: Mapping[str, Any]) -> str:
    """Returns a heading and `metrics_table`."""
    return f"evaluation at step {step}\n{metrics_table(metrics)}"


def metrics_table(metrics: Mapping[str, Any]) -> str:
    """Returns a line for each metric, and below them a table for each set of classes.

    Args:
      metrics: name -> number, or an array or bytes, which are printed as kind and size.
    """
    rows = [
        (name, _text(value)) for name, value in metrics.items() if not isinstance(name, ClassMetric)
    ]
    return "\n".join([*([columns(rows)] if rows else []), *_class_tables(metrics)])


def log_line(step: int, metrics: Mapping[str, float]) -> str:
    """Returns the line of the log, with all metrics in six digits."""
    texts = ", ".join(f"{name} = {value:.6g}" for name, value in metrics.items())
    return f"step {step}: evaluation: {texts}"


def _class_tables(metrics: Mapping[str, Any]) -> list[str]:
    """Returns a table for each set of classes; kinds with the same classes share a table."""
    kinds: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in metrics.items():
        if isinstance(name, ClassMetric):
            kinds[name.kind][name.class_name] = value
    tables: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, values in kinds.items():
        tables[tuple(values)].append(kind)
    texts = []
    for classes, headings in tables.items():
        cells = [_cells(list(kinds[kind].values())) for kind in headings]
        rows = [["", *headings], *([*row] for row in zip(classes, *cells, strict=True))]
        texts.append(columns(rows, right=range(1, len(headings) + 1)))
    return texts


def _cells(column: list[Any]) -> list[str]:
    """Returns the texts of a column; counts, which are whole numbers above 1, have no decimals."""
    numbers = [float(value) for value in column if _is_number(value)]
    if all(number.is_integer() for number in numbers) and max(numbers, default=0) > 1:
        return [f"{value:.0f}" if _is_number(value) else _text(value) for value in column]
    return [_text(value) for value in column]


def _is_number(value: Any) -> bool:
    return not isinstance(value, bytes) and not getattr(value, "shape", ())


def _text(value: Any) -> str:
    """Returns a number as text; of any other value the kind and the size."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if not _is_number(value):
        return f"array {list(value.shape)}"
    return f"{value:.0f}" if float(value) >= _LARGE else figure(float(value))
