"""`ClassMetric` and `ClassMean`: names of metrics of single classes, and of means over classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


class ClassMetric(str):
    """The name of a metric of one class, such as `iou_road`; a text like any metric's name.

    A model declares its class-wise metrics by these names. Results are then printed as a table
    with a row for each class and a column for each kind:

        names = {ClassMetric("iou", name): iou[i] for i, name in enumerate(info.class_names)}

    NaN is a figure that is not defined, such as the recall of a class without an example: a table
    has `-` instead. A class whose figures are all NaN is left out of tables, lines and TensorBoard.

    Attributes:
      kind: the heading of the column, such as `iou`.
      class_name: the heading of the row.
      row: the noun for a row that is no class, such as `length`.
    """

    kind: str
    class_name: str
    row: str

    def __new__(cls, kind: str, class_name: str, row: str = "class") -> ClassMetric:
        name = super().__new__(cls, f"{kind}_{class_name}")
        name.kind, name.class_name, name.row = kind, class_name, row
        return name

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        """Returns the arguments, for copies and pickles."""
        return self.kind, self.class_name, self.row


class ClassMean(str):
    """The name of a mean over the classes for which a figure is defined, such as `mean_iou`.

    Results say over how many classes the mean is. NaN is a mean over no class.

    Args:
      name: the name of the metric.

    Attributes:
      kind: the kind of the `ClassMetric` whose classes are counted; empty: they are not counted.
    """

    kind: str

    def __new__(cls, name: str, kind: str = "") -> ClassMean:
        mean = super().__new__(cls, name)
        mean.kind = kind
        return mean

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Returns the arguments, for copies and pickles."""
        return str(self), self.kind


def is_undefined(name: str, value: Any) -> bool:
    """Returns whether a metric of classes is not defined: NaN under a declared name.

    NaN under another name, such as a loss, is a value like others.
    """
    if not isinstance(name, (ClassMetric, ClassMean)):
        return False
    return not isinstance(value, bytes) and not getattr(value, "shape", ()) and math.isnan(value)


def classes_without_figures(metrics: Mapping[str, Any]) -> set[str]:
    """Returns the names of the classes that have no defined figure."""
    names = [name for name in metrics if isinstance(name, ClassMetric)]
    defined = {name.class_name for name in names if not is_undefined(name, metrics[name])}
    return {name.class_name for name in names} - defined


def defined_and_all(kind: str, metrics: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the number of classes for which a kind of figure is defined, and of all classes."""
    undefined = [
        is_undefined(name, value)
        for name, value in metrics.items()
        if isinstance(name, ClassMetric) and name.kind == kind
    ]
    return undefined.count(False), len(undefined)
