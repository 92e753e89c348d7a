"""`ReadInput`: base of the suite for inputs; reads the data once for all checks."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from tf_frame.errors import NoDataError
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.kinds import INPUT
from tf_frame.testing.conformance.batches import Batches, Pipeline
from tf_frame.testing.conformance.outcomes import fails_as, reported_by
from tf_frame.testing.conformance.recorders import NumpyDraws
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.text import short_repr

BATCH_SIZE = 2
RESUMED_STEPS = 6
MOST_SECS = 20.0
# A training split is read twice if it has at most so many batches.
_MOST_BATCHES = 200


class ReadInput(Conformance):
    """Constructs an input, and reads its data when checks need them."""

    kind = INPUT

    def resumable(self) -> None:
        """Skips the check for an input that declares a run need not resume exactly.

        Raises:
          SkipTest: the input declares that, or its training data cannot be read.
        """
        if not getattr(self.loaded().cls, "exact_resume", True):
            raise unittest.SkipTest("the input declares exact_resume = False")
        self.read(Mode.TRAIN)

    @classmethod
    def source(cls) -> Any:
        """Returns the constructed input.

        Raises:
          SkipTest: the input has no data here, or an option without a usable default.
        """
        return cls.kept("source", cls._source)

    @classmethod
    def draws(cls) -> NumpyDraws:
        """Returns the use of NumPy's global random numbers by the constructor."""
        return cls.kept("draws", NumpyDraws)

    @classmethod
    def _source(cls) -> Any:
        try:
            with cls.draws():
                return cls.made_plugin()
        except unittest.SkipTest as error:
            params = cls.configured().params
            data_words = ("dir", "path", "file", "pattern", "url")
            options = [
                f"--input.{name}"
                for name, value in vars(params).items()
                if not value and any(word in name for word in data_words)
            ]
            hint = f"; give {' or '.join(options)}" if options else ""
            raise unittest.SkipTest(f"{error}{hint}") from error

    @classmethod
    def info(cls) -> InputInfo:
        """Returns the facts of the input about its data.

        Raises:
          AssertionError: the facts are wrong.
          SkipTest: the input has no data here.
        """
        source = cls.source()
        with fails_as("info fails"):
            info = source.info
            _check_info(info)
        return cast(InputInfo, info)

    @classmethod
    def num_examples(cls, mode: Mode) -> int | None:
        """Returns the number of examples that `info` declares; None: unknown.

        Args:
          mode: training or evaluation.

        Raises:
          SkipTest: the number is wrong; another check reports that.
        """
        source = cls.source()
        with reported_by("test_info_is_complete"):
            number = source.info.num_examples.get(mode)
            assert number is None or _is_count(number)
        return None if number is None else int(number)

    @classmethod
    def pipeline(cls, mode: Mode) -> Pipeline:
        """Returns the data of a mode in a graph."""
        source = cls.source()
        return cls.kept(f"pipeline {mode}", lambda: Pipeline(source, mode, BATCH_SIZE))

    @classmethod
    def batches(cls, mode: Mode) -> Batches:
        """Returns batches of 2 examples: all of evaluation, or more than a pass of training data.

        Of training data at most 200 batches are read, and 6 if `info` has no number of examples;
        of evaluation data without a number at most 2000. No batch is read after 20 s.

        Args:
          mode: training or evaluation.
        """

        def make() -> Batches:
            declared = cls.num_examples(mode) or 0
            most = min(declared // BATCH_SIZE + 2, _MOST_BATCHES) if declared else RESUMED_STEPS
            if mode == Mode.EVAL:
                most = declared // BATCH_SIZE + 2 if declared else 10 * _MOST_BATCHES
            return cls.pipeline(mode).read(most, MOST_SECS)

        return cls.kept(f"batches {mode}", make)

    def read(self, mode: Mode) -> Batches:
        """Returns the `batches` of a mode.

        Raises:
          SkipTest: the data cannot be read; another check reports that.
        """
        with reported_by("test_elements_are_as_declared"):
            batches = self.batches(mode)
            assert batches.sizes, "there is not one batch"
            return batches

    def evaluation_or_none(self) -> Batches | None:
        """Returns the evaluation data; None without any."""
        if self.num_examples(Mode.EVAL) == 0:
            return None
        try:
            return self.batches(Mode.EVAL)
        except NoDataError:
            return None

    def read_evaluation_or_none(self) -> Batches | None:
        """Returns the evaluation data; None without any.

        Raises:
          SkipTest: the data cannot be read; another check reports that.
        """
        with reported_by("test_elements_are_as_declared"):
            batches = self.evaluation_or_none()
            assert batches is None or batches.sizes, "there is not one batch"
            return batches

    def read_evaluation(self) -> Batches:
        """Returns the evaluation data.

        Raises:
          SkipTest: there is none, or it cannot be read.
        """
        batches = self.read_evaluation_or_none()
        if batches is None:
            raise unittest.SkipTest("the input has no evaluation data")
        return batches

    def declared_names(self) -> dict[str, tuple[str, ...]]:
        """`features` and `labels` -> the names that the input declares."""
        source = self.source()
        return {
            "features": tuple(getattr(source, "feature_names", ()) or ()),
            "labels": tuple(getattr(source, "label_names", ()) or ()),
        }


def _check_info(info: Any) -> None:
    assert isinstance(info, InputInfo), (
        f"info is {short_repr(info)}; make it a property that returns a tf_frame.InputInfo"
    )
    numbers = info.num_examples
    assert isinstance(numbers, Mapping), (
        f"info.num_examples is {short_repr(numbers)}; map tf_frame.Mode to a number"
    )
    wrong = {
        mode: number
        for mode, number in numbers.items()
        if not isinstance(mode, Mode) or isinstance(number, bool) or not _is_count(number)
    }
    assert not wrong, f"info.num_examples has {wrong}; map tf_frame.Mode to a number"
    names, classes = info.class_names, info.num_classes
    count = 0 if names is None else len(names)
    assert not count or classes is None or count == classes, (
        f"info has {count} class names and num_classes {classes}; make them equal"
    )


def _is_count(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and int(number) >= 0
