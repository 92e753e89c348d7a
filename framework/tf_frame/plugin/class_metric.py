"""`ClassMetric`: the name of a metric of a single class."""

from __future__ import annotations


class ClassMetric(str):
    """The name of a metric of one class, such as `iou_road`; a text like any metric's name.

    A model declares its class-wise metrics by these names. Results are then printed as a table
    with a row for each class and a column for each kind:

        names = {ClassMetric("iou", name): iou[i] for i, name in enumerate(info.class_names)}

    Attributes:
      kind: the heading of the column, such as `iou`.
      class_name: the heading of the row.
    """

    kind: str
    class_name: str

    def __new__(cls, kind: str, class_name: str) -> ClassMetric:
        name = super().__new__(cls, f"{kind}_{class_name}")
        name.kind, name.class_name = kind, class_name
        return name

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Returns the arguments, for copies and pickles."""
        return self.kind, self.class_name
