"""`InputConformance`: the checks of inputs."""

from __future__ import annotations

import unittest
from typing import Any

from tf_frame.errors import NoDataError
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.kinds import INPUT
from tf_frame.testing.conformance.batches import Batches, Pipeline
from tf_frame.testing.conformance.common import Conformance, fails_as, not_checked, reported_by
from tf_frame.testing.exact_resume import check_exact_resume

_BATCH_SIZE = 2
_RESUMED_STEPS = 6
# A training split is read twice if it has at most so many batches.
_MOST_BATCHES = 200
_MOST_SECS = 20.0
_ELEMENTS = "test_elements_are_as_declared"


class InputConformance(Conformance):
    """The checks of inputs.

    An input whose data the user has to give needs options; without them the checks that read data
    are skipped.
    """

    kind = INPUT

    def test_info_is_complete(self) -> None:
        """`info` is an InputInfo with numbers of examples by mode."""
        info = self.info()
        assert isinstance(info, InputInfo), f"info is {info!r}; return a tf_frame.InputInfo"
        wrong = {
            mode: number
            for mode, number in info.num_examples.items()
            if not isinstance(mode, Mode) or isinstance(number, bool) or not int(number) >= 0
        }
        assert not wrong, f"info.num_examples has {wrong}; map tf_frame.Mode to a number"
        names, classes = info.class_names, info.num_classes
        assert not names or classes is None or len(names) == classes, (
            f"info has {len(names)} class names and num_classes {classes}; make them equal"
        )

    def test_elements_are_as_declared(self) -> None:
        """Training and evaluation have the declared names, the same types, and real shapes."""
        with fails_as("the training data cannot be read"):
            batches = {"training": self.batches(Mode.TRAIN)}
        with fails_as("the evaluation data cannot be read"):
            evaluation = self.evaluation_or_none()
        if evaluation is not None:
            batches["evaluation"] = evaluation
        declared = self.declared_names()
        for purpose, of_mode in batches.items():
            for part, names in declared.items():
                missing = [name for name in names if name not in of_mode.names(part)]
                assert not missing, (
                    f"the {part} for {purpose} lack {', '.join(missing)}; yield a dict with them, "
                    f"or correct {part.removesuffix('s')}_names"
                )
            unlike = of_mode.unlike_their_shapes()
            assert not unlike, f"for {purpose} {unlike}; correct set_shape or the values"
        if evaluation is not None:
            train, other = batches["training"].types(), evaluation.types()
            for name in train.keys() & other.keys():
                assert train[name] == other[name], (
                    f"{name} is {train[name]} for training and {other[name]} for evaluation; a "
                    "model is built for one of them"
                )

    def test_batches_have_the_asked_size(self) -> None:
        """Every training batch has `context.batch_size` examples; of several data sets its own."""
        read = self.read(Mode.TRAIN)
        if isinstance(read.features, (list, tuple)):
            other = next((sizes for sizes in read.sizes if sizes != read.sizes[0]), None)
            assert other is None, (
                f"the first training batch has tensors of {read.sizes[0]} examples, another one of "
                f"{other}; give each data set one size"
            )
            return
        for number, sizes in enumerate(read.sizes, start=1):
            assert set(sizes) <= {_BATCH_SIZE}, (
                f"training batch {number} has tensors of {sorted(set(sizes))} examples where "
                f"{_BATCH_SIZE} were asked for; use context.batch_size, with drop_remainder=True "
                "or after repeat()"
            )
        evaluation = self.read_evaluation_or_none()
        large = (
            [s for sizes in evaluation.sizes for s in sizes if s > _BATCH_SIZE]
            if evaluation
            else []
        )
        assert not large, (
            f"an evaluation batch has {large[0]} examples where {_BATCH_SIZE} were asked for; use "
            "context.batch_size"
        )

    def test_training_repeats(self) -> None:
        """Training data does not end."""
        read = self.read(Mode.TRAIN)
        assert not read.ended, (
            f"the training data ends after {len(read.sizes)} batches of {_BATCH_SIZE}; repeat it: "
            "dataset.repeat() before batch()"
        )

    def test_evaluation_ends_after_one_pass(self) -> None:
        """Evaluation data ends, after as many examples as `info` says at the most."""
        read = self.read_evaluation()
        declared = self.info().num_examples.get(Mode.EVAL)
        if not read.ended and read.timed_out:
            raise unittest.SkipTest(f"not at its end after {_MOST_SECS:g} s; give smaller data")
        assert read.ended, (
            f"the evaluation data goes on after {read.examples} examples"
            + (f", and info.num_examples has {declared}" if declared is not None else "")
            + "; do not repeat it"
        )

    def test_num_examples_is_true(self) -> None:
        """`info.num_examples` is the number of evaluation examples."""
        declared = self.info().num_examples.get(Mode.EVAL)
        if declared is None:
            raise unittest.SkipTest("info.num_examples has no number for evaluation")
        read = self.read_evaluation()
        if not read.ended:
            raise unittest.SkipTest("not checked, because the evaluation data did not end")
        assert read.examples == declared, (
            f"the evaluation data has {read.examples} examples, and info.num_examples says "
            f"{declared}; correct info, or read every example once"
        )

    def test_position_can_be_saved(self) -> None:
        """The position in the training data can be saved, with TensorFlow's policy `fail`."""
        self.resumable()
        problem = self.pipeline(Mode.TRAIN).position_problem()
        assert not problem, problem

    def test_interrupted_run_reads_the_same_batches(self) -> None:
        """From a saved position on come the batches of an uninterrupted run, byte for byte."""
        self.resumable()
        pipeline = self.pipeline(Mode.TRAIN)
        if pipeline.position_problem():
            raise unittest.SkipTest(not_checked("position_can_be_saved"))
        steps = min(_RESUMED_STEPS, len(self.read(Mode.TRAIN).sizes))
        check_exact_resume(self.source(), batch_size=_BATCH_SIZE, steps=steps)

    def resumable(self) -> None:
        """Skips the check for an input that declares a run need not resume exactly."""
        if not getattr(self.loaded().cls, "exact_resume", True):
            raise unittest.SkipTest("the input declares exact_resume = False")
        self.read(Mode.TRAIN)

    @classmethod
    def source(cls) -> Any:
        """The input, constructed; skips the check if its data is not there."""
        return cls.kept("source", cls._source)

    @classmethod
    def _source(cls) -> Any:
        try:
            return cls.made_plugin()
        except unittest.SkipTest as skipped:
            given = cls.configured().params
            of_data = ("dir", "path", "file", "pattern", "url")
            options = [
                f"--input.{name}"
                for name, value in vars(given).items()
                if not value and any(word in name for word in of_data)
            ]
            hint = f"; give {' or '.join(options)}" if options else ""
            raise unittest.SkipTest(f"{skipped}{hint}") from skipped

    @classmethod
    def info(cls) -> Any:
        """The facts that the input tells about its data."""
        source = cls.source()
        with fails_as("info fails"):
            return source.info

    @classmethod
    def pipeline(cls, mode: Mode) -> Pipeline:
        """The data of a mode in a graph."""
        source = cls.source()
        return cls.kept(f"pipeline {mode}", lambda: Pipeline(source, mode, _BATCH_SIZE))

    @classmethod
    def batches(cls, mode: Mode) -> Batches:
        """Batches of a mode: all of evaluation, of training those of a pass and one more."""

        def make() -> Batches:
            declared = cls.info().num_examples.get(mode) or 0
            most = min(declared // _BATCH_SIZE + 2, _MOST_BATCHES) if declared else _RESUMED_STEPS
            if mode == Mode.EVAL:
                most = declared // _BATCH_SIZE + 2 if declared else 10 * _MOST_BATCHES
            return cls.pipeline(mode).read(most, _MOST_SECS)

        return cls.kept(f"batches {mode}", make)

    def read(self, mode: Mode) -> Batches:
        """Batches of a mode; skips the check if they cannot be read, which another one reports."""
        with reported_by(_ELEMENTS):
            return self.batches(mode)

    def evaluation_or_none(self) -> Batches | None:
        """The evaluation data; None if the input has none."""
        if self.info().num_examples.get(Mode.EVAL) == 0:
            return None
        try:
            return self.batches(Mode.EVAL)
        except NoDataError:
            return None

    def read_evaluation_or_none(self) -> Batches | None:
        """As `evaluation_or_none`; skips the check if the data cannot be read."""
        with reported_by(_ELEMENTS):
            return self.evaluation_or_none()

    def read_evaluation(self) -> Batches:
        """The evaluation data; skips the check without any."""
        read = self.read_evaluation_or_none()
        if read is None:
            raise unittest.SkipTest("the input has no evaluation data")
        return read

    def declared_names(self) -> dict[str, tuple[str, ...]]:
        """`features` and `labels` -> the names that the input declares."""
        source = self.source()
        return {
            "features": tuple(getattr(source, "feature_names", ())),
            "labels": tuple(getattr(source, "label_names", ())),
        }
