"""`InputInfo`, the facts about a data set, and `Mode`, the purpose of its splits."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence


class Mode(str, enum.Enum):
    """Purpose of a graph, with the values of tf.estimator.ModeKeys."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@dataclasses.dataclass(frozen=True)
class InputInfo:
    """Facts about a data set, known before the model is built.

    Attributes:
      num_examples: examples per mode; the number is unknown for a missing mode. With 0 for
        evaluation, a run evaluates nothing unless it is asked to.
      num_classes: number of classes, the background included.
      class_names: one name per class.
      ignore_label: label value that loss and metrics leave out.
      class_colours: red, green and blue of each class, 0 to 255; empty without.
      class_ids: the data set's own id of each class; empty: the numbers of the classes.
    """

    num_examples: Mapping[Mode, int] = dataclasses.field(default_factory=dict)
    num_classes: int | None = None
    class_names: Sequence[str] = ()
    ignore_label: int | None = None
    class_colours: Sequence[Sequence[int]] = ()
    class_ids: Sequence[int] = ()
