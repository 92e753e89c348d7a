"""`DataReport`: the content of a data set, for people, before the first step.

An input returns the report from its optional method `data_report`. A run prints a short form of
the report, and writes all of it to `data.json`. Nothing here imports TensorFlow.

    DataReport(
        unit="objects",
        class_names=("cat", "dog"),
        splits={
            Mode.TRAIN: SplitReport(examples=90, counts={"cat": 200, "dog": 31}),
            Mode.EVAL: SplitReport(examples=10, counts={"cat": 20, "dog": 4}),
        },
    )
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.plugin.input_info import InputInfo, Mode

Size = tuple[int, int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SplitReport:
    """The content of the training data or of the evaluation data.

    Attributes:
      examples: number of examples; None: unknown, or endless.
      counts: class name -> number of units of this class, such as objects; a class without any
        has 0. None: not counted.
      counted: number of examples that were counted, evenly chosen, because all would take too
        long; None: all.
      without_label: number of units that loss and metrics leave out, such as void pixels.
      sizes: height and width of the smallest, the median and the largest image, by area; empty:
        not known.
      left_out: reason -> number of examples that are not used, such as damaged files.
      place: the folder or the files of the split.
      names: of the examples, below the data folder; empty: not known, or too many.
    """

    examples: int | None = None
    counts: Mapping[str, int] | None = None
    counted: int | None = None
    without_label: int = 0
    sizes: Sequence[Size] = ()
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    place: str = ""
    names: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class DataWarning:
    """A reason why a model can learn nothing from the data, or why its figures mislead.

    Attributes:
      kind: a short name for programs, such as `one_class`.
      text: the reason, with the values seen.
      remedy: the change that the user should make.
    """

    kind: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataReport:
    """The content of a data set.

    Attributes:
      splits: the splits that the data has; a missing mode has no data.
      unit: the thing that `SplitReport.counts` counts: `examples`, `objects`, `pixels` or
        `characters`.
      class_names: the classes, in the order of their numbers.
      unused: files and folders next to the data that nothing uses.
      remarks: sentences about the report, such as why nothing is counted.
      warnings: faults that only the input can see; a run adds the faults that follow from the
        report.
    """

    splits: Mapping[Mode, SplitReport] = dataclasses.field(default_factory=dict)
    unit: str = "examples"
    class_names: Sequence[str] = ()
    unused: Sequence[str] = ()
    remarks: Sequence[str] = ()
    warnings: Sequence[DataWarning] = ()

    def as_json(self) -> dict[str, Any]:
        """Returns the report as `data.json` has it, with `train`, `eval` as the names of splits."""
        content = dataclasses.asdict(self)
        splits = {mode.value: split for mode, split in content["splits"].items()}
        return {**content, "splits": splits}


def report_from_info(info: InputInfo) -> DataReport:
    """Returns the report of an input that describes itself by its `info` alone."""
    return DataReport(
        splits={
            mode: SplitReport(examples=count)
            for mode, count in info.num_examples.items()
            if mode != Mode.PREDICT
        },
        class_names=tuple(info.class_names),
        remarks=("the input does not count its classes",),
    )
