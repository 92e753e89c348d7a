"""`InputConformance`: the suite for input plugins."""

from __future__ import annotations

import json
import unittest
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.plugin import Mode, SplitReport
from tf_frame.testing.conformance.batches import Batches
from tf_frame.testing.conformance.outcomes import fails_as, not_checked, reported_by
from tf_frame.testing.conformance.read_input import BATCH_SIZE, MOST_SECS, RESUMED_STEPS, ReadInput
from tf_frame.testing.exact_resume import check_exact_resume


class InputConformance(ReadInput):
    """The checks of inputs.

    An input of a user's data needs options; without options the checks that read data are skipped.
    """

    def test_info_is_complete(self) -> None:
        """`info` is an InputInfo with numbers of examples by mode."""
        self.info()

    def test_data_report_agrees_with_info(self) -> None:
        """`data_report`, if there is one, can be written as JSON and has the numbers of `info`."""
        with reported_by("test_info_is_complete"):
            source, info = self.source(), self.info()
        if not hasattr(source, "data_report"):
            raise unittest.SkipTest("the input has no method data_report")
        report = source.data_report()
        try:
            json.dumps(report.as_json())
        except (TypeError, ValueError, AttributeError) as error:
            raise AssertionError(
                f"data_report() cannot be written as JSON: {error}; return a tf_frame.DataReport "
                "with plain texts and numbers"
            ) from None
        for mode, split in report.splits.items():
            declared = info.num_examples.get(mode)
            assert split.examples == declared, (
                f"data_report() has {split.examples} examples for {mode.name}, and "
                f"info.num_examples has {declared}; use the same number in both"
            )
            mistake = _wrong_counts(report.unit, split, info.class_names)
            assert not mistake, f"data_report() for {mode.name}: {mistake}"

    def test_elements_are_as_declared(self) -> None:
        """Training and evaluation have the declared names, the same types, and real shapes."""
        with fails_as("the training data cannot be read"):
            batches = {"training": self.batches(Mode.TRAIN)}
        with fails_as("the evaluation data cannot be read"):
            evaluation = self.evaluation_or_none()
        if evaluation is not None:
            batches["evaluation"] = evaluation
        empty = [purpose for purpose, split in batches.items() if not split.sizes]
        assert not empty, (
            f"the data for {' and '.join(empty)} has not one batch; an input without evaluation "
            "data says so by info.num_examples = {Mode.EVAL: 0}, or raises "
            "tf_frame.errors.NoDataError"
        )
        declared = self.declared_names()
        for purpose, split in batches.items():
            for part, names in declared.items():
                missing = [name for name in names if name not in split.names(part)]
                assert not missing, (
                    f"the {part} for {purpose} lack {', '.join(missing)}; yield a dict with them, "
                    f"or correct {part.removesuffix('s')}_names"
                )
            mistake = split.wrong_shape()
            assert not mistake, f"for {purpose} {mistake}; correct set_shape or the values"
        if evaluation is not None:
            self.check_evaluation_names(batches["training"], evaluation)
            types, eval_types = batches["training"].types(), evaluation.types()
            for name in types.keys() & eval_types.keys():
                assert types[name] == eval_types[name], (
                    f"{name} is {types[name]} for training and {eval_types[name]} for evaluation; "
                    "a model is built for one of them"
                )

    @staticmethod
    def check_evaluation_names(training: Batches, evaluation: Batches) -> None:
        """Fails if training lacks a feature of evaluation, and evaluation a feature of training.

        Either split may have further features, such as weights of examples.

        Args:
          training: batches of training.
          evaluation: batches of evaluation.

        Raises:
          AssertionError: each of them lacks a feature of the other.
        """
        names, eval_names = set(training.names("features")), set(evaluation.names("features"))
        assert names <= eval_names or eval_names <= names, (
            f"the features for training are {', '.join(sorted(names))}, for evaluation "
            f"{', '.join(sorted(eval_names))}; a model is built for one of them"
        )

    def test_batches_have_the_asked_size(self) -> None:
        """A training batch has `context.batch_size` examples; each data set of several its own."""
        batches = self.read(Mode.TRAIN)
        if isinstance(batches.features, (list, tuple)):
            first = batches.sizes[0]
            different = next((sizes for sizes in batches.sizes if sizes != first), None)
            assert different is None, (
                f"the first training batch has tensors of {first} examples, another one of "
                f"{different}; give each data set one size"
            )
            return
        for number, sizes in enumerate(batches.sizes, start=1):
            assert set(sizes) <= {BATCH_SIZE}, (
                f"training batch {number} has tensors of {sorted(set(sizes))} examples where "
                f"{BATCH_SIZE} were asked for; use context.batch_size, with drop_remainder=True "
                "or after repeat()"
            )
        evaluation = self.read_evaluation_or_none()
        large = (
            [s for sizes in evaluation.sizes for s in sizes if s > BATCH_SIZE] if evaluation else []
        )
        assert not large, (
            f"an evaluation batch has {large[0]} examples where {BATCH_SIZE} were asked for; use "
            "context.batch_size"
        )

    def test_training_repeats(self) -> None:
        """Training data does not end."""
        batches = self.read(Mode.TRAIN)
        counts = self.pipeline(Mode.TRAIN).cardinalities()
        finite = [len(batches.sizes)] if batches.ended else [n for n in counts if n >= 0]
        assert not finite, (
            f"the training data ends after {finite[0]} batches of {BATCH_SIZE}; repeat it: "
            "dataset.repeat() before batch()"
        )
        if tf.data.experimental.UNKNOWN_CARDINALITY in counts and not self.read_more_than_a_pass():
            raise unittest.SkipTest(
                f"tf.data does not know whether it ends, and {len(batches.sizes)} batches were read"
            )

    def read_more_than_a_pass(self) -> bool:
        """Returns whether more training examples were read than `info` declares."""
        return 0 < (self.num_examples(Mode.TRAIN) or 0) < self.read(Mode.TRAIN).examples

    def test_evaluation_ends_after_one_pass(self) -> None:
        """Evaluation data ends after at most as many examples as `info` declares."""
        batches = self.read_evaluation()
        declared = self.num_examples(Mode.EVAL)
        if not batches.ended and batches.timed_out:
            raise unittest.SkipTest(f"not at its end after {MOST_SECS:g} s; give smaller data")
        assert batches.ended, (
            f"the evaluation data goes on after {batches.examples} examples"
            + (f", and info.num_examples has {declared}" if declared is not None else "")
            + "; do not repeat it"
        )

    def test_num_examples_is_true(self) -> None:
        """`info.num_examples` is the number of evaluation examples."""
        declared = self.num_examples(Mode.EVAL)
        if declared is None:
            raise unittest.SkipTest("info.num_examples has no number for evaluation")
        batches = self.read_evaluation()
        if not batches.ended:
            raise unittest.SkipTest("not checked, because the evaluation data did not end")
        assert batches.examples == declared, (
            f"the evaluation data has {batches.examples} examples, and info.num_examples says "
            f"{declared}; correct info, or read every example once"
        )

    def test_position_can_be_saved(self) -> None:
        """The position in the training data can be saved, with TensorFlow's policy `fail`.

        An input with Python functions, which is read again instead, is skipped.
        """
        self.resumable()
        pipeline = self.pipeline(Mode.TRAIN)
        problem = pipeline.position_problem()
        if problem and (how := pipeline.reading_again()):
            raise unittest.SkipTest(how)
        assert not problem, problem

    def test_interrupted_run_reads_the_same_batches(self) -> None:
        """A run resumed at a saved position reads the same batches, byte for byte."""
        self.resumable()
        pipeline = self.pipeline(Mode.TRAIN)
        if pipeline.position_problem():
            raise unittest.SkipTest(not_checked("position_can_be_saved"))
        steps = min(RESUMED_STEPS, len(self.read(Mode.TRAIN).sizes))
        check_exact_resume(self.source(), batch_size=BATCH_SIZE, steps=steps)
        self.draws().check("the constructor")


def _wrong_counts(unit: str, split: SplitReport, class_names: Sequence[str]) -> str:
    """Returns a fault of the counts of a split, or an empty text."""
    if split.counts is None:
        return ""
    unknown = [name for name in split.counts if name not in class_names]
    if unknown and class_names:
        return f"it counts {unknown[0]}, which is not in info.class_names"
    if any(count < 0 for count in split.counts.values()):
        return "a count is negative"
    total = sum(split.counts.values()) + split.without_label
    if unit == "examples" and split.examples is not None and total != split.examples:
        return f"the counts of the classes add up to {total}, but there are {split.examples}"
    return ""
