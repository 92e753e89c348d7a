"""Text of evaluation results: no other module formats them.

    evaluation at step 500  mean_iou 0.8500  loss 0.3120        result_line: during training

    evaluation at step 500                                      result_table: at the end
      mean_iou  0.8500  over 2 of 14 classes
      loss      0.3120
            iou     recall
      road  0.9000  0.9500
      sky   0.8000       -
      12 classes without an example are left out

Metrics that a model declares by `ClassMetric` are the rows and columns of the second table. The
line leaves them out. A figure that is not defined is `-`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tf_frame.plugin.class_metric import (
    ClassMean,
    ClassMetric,
    classes_without_figures,
    defined_and_all,
    is_undefined,
)
from tf_frame.plugin.evaluation_file import EvaluationFile
from tf_frame.text import columns, figure, printable

# Decimals of larger values, such as numbers of pixels, say nothing.
_LARGE = 1000
_UNDEFINED = "-"


def result_line(step: int, metrics: Mapping[str, float]) -> str:
    """Returns one line with the metrics of all classes together."""
    return f"evaluation at step {step}  {'  '.join(metric_texts(metrics))}"


def metric_texts(metrics: Mapping[str, float]) -> list[str]:
    """Returns `mean_iou 0.8500` and so on, without the metrics of single classes.

    A mean that leaves classes out says over how many it is.
    """
    texts = []
    for name, value in metrics.items():
        if not isinstance(name, ClassMetric):
            over = _over(name, metrics)
            note = f" ({over})" if " of " in over else ""
            texts.append(f"{name} {_figure(name, value)}{note}")
    return texts


def metric_names(metrics: Mapping[str, float]) -> str:
    """Returns the names of the metrics in a clause, with the kinds of those of single classes."""
    names = [name for name in metrics if not isinstance(name, ClassMetric)]
    kinds = dict.fromkeys(name.kind for name in metrics if isinstance(name, ClassMetric))
    of_classes = f"; of each class {', '.join(kinds)}" if kinds else ""
    return f"{', '.join(names)}{of_classes}"


def result_table(
    step: int, metrics: Mapping[str, Any], files: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Returns a heading and `metrics_table`."""
    return f"evaluation at step {step}\n{metrics_table(metrics, files)}"


def metrics_table(
    metrics: Mapping[str, Any], files: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Returns a line for each metric, and below them tables of classes, and texts.

    Args:
      metrics: name -> number, or an array or bytes.
      files: name -> path of the file that holds an array or bytes, which is printed; kind and
        size are printed of those without a file.
    """
    rows = [
        (name, files.get(name) or f"{_text(name, value)}  {_over(name, metrics)}".rstrip())
        for name, value in metrics.items()
        if name in files or not isinstance(name, (ClassMetric, EvaluationFile))
    ]
    lines = [f"  {line}" for line in (*_left_out(metrics), *_text_lines(metrics))]
    return "\n".join([*([columns(rows)] if rows else []), *_class_tables(metrics), *lines])


def log_line(step: int, metrics: Mapping[str, float]) -> str:
    """Returns the line of the log, with all metrics that are defined in six digits."""
    texts = ", ".join(
        f"{name} = {value:.6g}" for name, value in metrics.items() if not is_undefined(name, value)
    )
    return "; ".join([f"step {step}: evaluation: {texts}", *_left_out(metrics)])


def _over(name: str, metrics: Mapping[str, Any]) -> str:
    """Returns the number of classes of a mean: `over 2 of 14 classes`; empty for other metrics."""
    defined, total = defined_and_all(getattr(name, "kind", ""), metrics)
    if not isinstance(name, ClassMean) or not total:
        return ""
    count = f"{defined} of {total}" if defined < total else f"{total}"
    rows = [other.row for other in _class_names(metrics) if other.kind == name.kind]
    return f"over {count} {_noun(rows[0], total)}"


def _left_out(metrics: Mapping[str, Any]) -> list[str]:
    """Returns a line for each kind of rows, such as classes, of which some have no figures."""
    left_out = classes_without_figures(metrics)
    # Classes of several metrics are one row.
    rows = {name.class_name: name.row for name in _class_names(metrics)}
    counts = Counter(row for name, row in rows.items() if name in left_out)
    return [
        f"{count} {_noun(row, count)} without an example {'is' if count == 1 else 'are'} left out"
        for row, count in counts.items()
    ]


def _class_names(metrics: Mapping[str, Any]) -> list[ClassMetric]:
    return [name for name in metrics if isinstance(name, ClassMetric)]


def _noun(row: str, count: int) -> str:
    """Returns a noun such as `class` in the singular or plural."""
    return row if count == 1 else f"{row}{'es' if row.endswith('s') else 's'}"


def _text_lines(metrics: Mapping[str, Any]) -> list[str]:
    """Returns the lines of the texts among the metrics."""
    texts = [
        value.decode("utf-8", "replace")
        for name, value in metrics.items()
        if isinstance(name, EvaluationFile) and name.is_text
    ]
    return [printable(line) for text in texts for line in text.splitlines()]


def _class_tables(metrics: Mapping[str, Any]) -> list[str]:
    """Returns a table for each set of classes; kinds with the same classes share a table."""
    left_out = classes_without_figures(metrics)
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for name in metrics:
        if isinstance(name, ClassMetric) and name.class_name not in left_out:
            kinds[name.kind][name.class_name] = name
    tables: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, values in kinds.items():
        tables[tuple(values)].append(kind)
    texts = []
    for classes, headings in tables.items():
        cells = [
            _cells({name: metrics[name] for name in kinds[kind].values()}) for kind in headings
        ]
        rows = [["", *headings], *([*row] for row in zip(classes, *cells, strict=True))]
        texts.append(columns(rows, right=range(1, len(headings) + 1)))
    return texts


def _cells(column: Mapping[str, Any]) -> list[str]:
    """Returns the texts of a column; counts, which are whole numbers above 1, have no decimals."""
    numbers = {name: float(value) for name, value in column.items() if _is_number(name, value)}
    is_count = all(number.is_integer() for number in numbers.values())
    is_count = is_count and max(numbers.values(), default=0) > 1
    return [
        f"{numbers[name]:.0f}" if is_count and name in numbers else _text(name, value)
        for name, value in column.items()
    ]


def _is_number(name: str, value: Any) -> bool:
    is_single = not isinstance(value, bytes) and not getattr(value, "shape", ())
    return is_single and not is_undefined(name, value)


def _figure(name: str, value: float) -> str:
    return _UNDEFINED if is_undefined(name, value) else figure(value)


def _text(name: str, value: Any) -> str:
    """Returns a number as text; of any other value the kind and the size."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if getattr(value, "shape", ()):
        return f"array {list(value.shape)}"
    return f"{value:.0f}" if float(value) >= _LARGE else _figure(name, float(value))
