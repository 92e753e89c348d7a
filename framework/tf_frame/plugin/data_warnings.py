"""Finds the faults of data that follow from a `DataReport`, whatever the input.

A model that trains on such data learns nothing, or its figures mislead: a loss falls, and the exit
code is 0, so that nobody looks. Each fault is a `DataWarning` with a remedy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.errors import PluginError
from tf_frame.plugin.data_report import DataReport, DataWarning, SplitReport, report_from_info
from tf_frame.plugin.input_info import InputInfo, Mode
from tf_frame.plugin.origin import describe_method
from tf_frame.text import brief, short_repr

_PIXELS, _EXAMPLES, _CHARACTERS, _OBJECTS = "pixels", "examples", "characters", "objects"
_NAMED = 3
# Images of evaluation are of another size if their areas differ by more than this factor.
_OTHER_SIZE = 2.0
# Too few for a judgement on images of several sizes.
_FEW = 3


def find_data_report(source: Any) -> DataReport:
    """Returns the report of an input, with the warnings that follow from it.

    Without the method `data_report` the input is described by its `info`.

    Raises:
      PluginError: the method returns something else than a report.
    """
    # An input need not inherit from `tf_frame.Input`.
    if hasattr(source, "data_report"):
        report = source.data_report()
        if not isinstance(report, DataReport):
            raise PluginError(
                f"{describe_method(source, 'data_report')} returned {short_repr(report)}; it must "
                "return a tf_frame.DataReport"
            )
    else:
        report = report_from_info(source.info)
    ignore_label = getattr(getattr(source, "info", None), "ignore_label", None)
    warnings = find_warnings(report, ignore_label)
    return dataclasses.replace(report, warnings=(*report.warnings, *warnings))


def different_classes(info: InputInfo, trained: InputInfo, had: str = "the training had") -> str:
    """Describes a difference between the classes of data and of a model; empty without one."""
    if info.num_classes != trained.num_classes:
        return f"the data has {info.num_classes} classes, {had} {trained.num_classes}"
    pairs = zip(info.class_names, trained.class_names, strict=False)
    return next(
        (
            f"class {label} of the data is {brief(name)}, {had} {brief(before)}"
            for label, (name, before) in enumerate(pairs)
            if name != before
        ),
        "",
    )


def find_warnings(report: DataReport, ignore_label: int | None = None) -> tuple[DataWarning, ...]:
    """Returns the faults that follow from counts, sizes and examples left out.

    Args:
      report: of the data.
      ignore_label: label of pixels that do not count.
    """
    train, held_out = (report.splits.get(mode) for mode in (Mode.TRAIN, Mode.EVAL))
    if train is None:
        return ()
    ignored = "ignored" if ignore_label is None else f"ignored ({ignore_label})"
    warnings = list(_class_warnings(report, train, ignored))
    if not warnings and held_out is not None and held_out.examples != 0:
        warnings += _split_warnings(report, train, held_out)
    if held_out is not None:
        warnings += _size_warnings(train, held_out)
    return (*warnings, *_left_out_warnings(train))


def _class_warnings(report: DataReport, train: SplitReport, ignored: str) -> Iterator[DataWarning]:
    """Yields the fault that leaves nothing to learn from the labels of the training data."""
    names, unit = report.class_names, report.unit
    if len(names) == 1 and unit in (_EXAMPLES, _PIXELS):
        yield DataWarning(
            "one_class",
            f"the data has one class, {names[0]}, and so every answer is right",
            "add a second class, such as a background, or check the folder of the data",
        )
        return
    if train.counts is None:
        return
    present = [name for name, count in train.counts.items() if count]
    if unit == _PIXELS and not present and train.without_label:
        yield DataWarning(
            "all_void",
            f"every pixel of {_looked_at(train)} masks is {ignored}",
            "give the pixels of objects the numbers of classes, or change --input.ignore_label",
        )
    elif unit == _OBJECTS and not present and train.without_label:
        yield DataWarning(
            "all_void",
            f"every object of {_looked_at(train)} images is ignored, as difficult or as a crowd",
            "check these marks in the annotations (--input.ignore_difficult=false learns difficult "
            "objects)",
        )
    elif unit != _OBJECTS and len(present) == 1 and len(train.counts) > 1:
        yield _constant(present[0], unit, train, ignored)


def _looked_at(train: SplitReport) -> str:
    return "the training" if train.counted is None else f"{train.counted} training"


def _constant(name: str, unit: str, train: SplitReport, ignored: str) -> DataWarning:
    if unit == _PIXELS and train.without_label:
        return DataWarning(
            "class_and_ignored",
            f"every pixel of {_looked_at(train)} masks is {name} or {ignored}, so that a model "
            f"that always answers {name} is perfect",
            "give the pixels of objects the number of their class (of a mask with "
            "objects at 255, which is ignored, write 1 instead of 255)",
        )
    return DataWarning(
        "constant_labels",
        f"all {unit} of {_looked_at(train)} examples are {name}, so that nothing is learned",
        "check the labels; add examples of the other classes",
    )


def _split_warnings(report: DataReport, train: SplitReport, held_out: SplitReport) -> Iterator[Any]:
    """Yields faults of the classes of training and evaluation together."""
    if train.counts is None or held_out.counts is None:
        return
    unit = report.unit
    trained = [name for name, count in train.counts.items() if count]
    evaluated = [name for name, count in held_out.counts.items() if count]
    if not evaluated:
        void = " with a label" if unit == _PIXELS or held_out.without_label else ""
        yield DataWarning(
            "nothing_to_evaluate",
            f"the evaluation data has no {unit}{void}, and so its figures say nothing",
            "check the labels of the evaluation data, or evaluate other examples",
        )
    elif trained and not {*trained} & {*evaluated}:
        yield DataWarning(
            "other_classes",
            f"the evaluation data has other classes ({_some(evaluated)}) than the training data "
            f"({_some(trained)})",
            "label both with the same classes",
        )
    elif train.counted is None and held_out.counted is None:
        yield from _missing_class_warnings(unit, trained, evaluated)


def _missing_class_warnings(
    unit: str, trained: Sequence[str], evaluated: Sequence[str]
) -> Iterator[DataWarning]:
    # Characters such as 1 and a comma need quotes in a sentence.
    quoted = repr if unit == _CHARACTERS else str
    only_evaluated = [quoted(name) for name in evaluated if name not in {*trained}]
    only_trained = [name for name in trained if name not in {*evaluated}]
    if only_evaluated:
        yield DataWarning(
            "class_not_trained",
            f"only the evaluation data has {_some(only_evaluated)}, which cannot be learned",
            "add training examples, or leave them out of the evaluation",
        )
    # A rare letter need not occur in the words to evaluate.
    if only_trained and unit != _CHARACTERS:
        yield DataWarning(
            "class_not_evaluated",
            f"only the training data has {_some(only_trained)}, so that no figure tells how well "
            "they are learned",
            "add evaluation examples of them; a part that is held out grows with "
            "--input.eval_fraction",
        )


def _size_warnings(train: SplitReport, held_out: SplitReport) -> Iterator[DataWarning]:
    """Yields a warning if the images to evaluate are larger or smaller than all others."""
    if not (train.sizes and held_out.sizes):
        return
    both = [[height * width for height, width in part.sizes] for part in (train, held_out)]
    (least, median, most), (other_least, other_median, other_most) = both
    ratio = max(median, other_median) / max(min(median, other_median), 1)
    disjoint = other_least > most or other_most < least
    is_one_size = all(len({*part.sizes}) == 1 for part in (train, held_out))
    if (disjoint and ratio >= _OTHER_SIZE) or (
        is_one_size and train.sizes[0] != held_out.sizes[0] and (train.examples or 0) > _FEW
    ):
        sizes = [" x ".join(map(str, part.sizes[1])) for part in (held_out, train)]
        yield DataWarning(
            "other_size",
            f"evaluation images are {sizes[0]} pixels, training images {sizes[1]}, so that "
            "objects have another size",
            "take both from the same source, or resize them",
        )


def _left_out_warnings(train: SplitReport) -> Iterator[DataWarning]:
    left_out = sum(train.left_out.values())
    if train.examples is not None and left_out > train.examples:
        reason = max(train.left_out, key=lambda name: train.left_out[name])
        yield DataWarning(
            "most_left_out",
            f"{left_out} training examples are left out, more than the {train.examples} that are "
            f"used; {train.left_out[reason]}: {reason}",
            "mend the data",
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
