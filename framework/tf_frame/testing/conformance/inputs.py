"""`InputConformance`: the checks of inputs."""

from __future__ import annotations

import unittest

import tensorflow.compat.v1 as tf

from tf_frame.plugin import Mode
from tf_frame.testing.conformance.batches import Batches
from tf_frame.testing.conformance.outcomes import fails_as, not_checked
from tf_frame.testing.conformance.read_input import BATCH_SIZE, MOST_SECS, RESUMED_STEPS, ReadInput
from tf_frame.testing.exact_resume import check_exact_resume


class InputConformance(ReadInput):
    """The checks of inputs.

    An input of a user's data needs options; without options the checks that read data are skipped.
    """

    def test_info_is_complete(self) -> None:
        """`info` is an InputInfo with numbers of examples by mode."""
        self.info()

    def test_elements_are_as_declared(self) -> None:
        """Training and evaluation have the declared names, the same types, and real shapes."""
        with fails_as("the training data cannot be read"):
            batches = {"training": self.batches(Mode.TRAIN)}
        with fails_as("the evaluation data cannot be read"):
            evaluation = self.evaluation_or_none()
        if evaluation is not None:
            batches["evaluation"] = evaluation
        empty = [purpose for purpose, read in batches.items() if not read.sizes]
        assert not empty, (
            f"the data for {' and '.join(empty)} has not one batch; an input without evaluation "
            "data says so by info.num_examples = {Mode.EVAL: 0}, or raises "
            "tf_frame.errors.NoDataError"
        )
        declared = self.declared_names()
        for purpose, of_mode in batches.items():
            for part, names in declared.items():
                missing = [name for name in names if name not in of_mode.names(part)]
                assert not missing, (
                    f"the {part} for {purpose} lack {', '.join(missing)}; yield a dict with them, "
                    f"or correct {part.removesuffix('s')}_names"
                )
            unlike = of_mode.wrong_shape()
            assert not unlike, f"for {purpose} {unlike}; correct set_shape or the values"
        if evaluation is not None:
            self.check_names_of_evaluation(batches["training"], evaluation)
            train, other = batches["training"].types(), evaluation.types()
            for name in train.keys() & other.keys():
                assert train[name] == other[name], (
                    f"{name} is {train[name]} for training and {other[name]} for evaluation; a "
                    "model is built for one of them"
                )

    @staticmethod
    def check_names_of_evaluation(training: Batches, evaluation: Batches) -> None:
        """Fails if training and evaluation both have features that the other one lacks.

        One of them may have further features, such as weights of examples.
        """
        train, other = set(training.names("features")), set(evaluation.names("features"))
        assert train <= other or other <= train, (
            f"the features for training are {', '.join(sorted(train))}, for evaluation "
            f"{', '.join(sorted(other))}; a model is built for one of them"
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
        read = self.read(Mode.TRAIN)
        ends = self.pipeline(Mode.TRAIN).cardinalities()
        finite = [len(read.sizes)] if read.ended else [number for number in ends if number >= 0]
        assert not finite, (
            f"the training data ends after {finite[0]} batches of {BATCH_SIZE}; repeat it: "
            "dataset.repeat() before batch()"
        )
        if tf.data.experimental.UNKNOWN_CARDINALITY in ends and not self.read_more_than_a_pass():
            raise unittest.SkipTest(
                f"tf.data does not know whether it ends, and {len(read.sizes)} batches were read"
            )

    def read_more_than_a_pass(self) -> bool:
        """Returns whether more training examples were read than `info` declares."""
        return 0 < (self.num_examples(Mode.TRAIN) or 0) < self.read(Mode.TRAIN).examples

    def test_evaluation_ends_after_one_pass(self) -> None:
        """Evaluation data ends, after as many examples as `info` says at the most."""
        read = self.read_evaluation()
        declared = self.num_examples(Mode.EVAL)
        if not read.ended and read.timed_out:
            raise unittest.SkipTest(f"not at its end after {MOST_SECS:g} s; give smaller data")
        assert read.ended, (
            f"the evaluation data goes on after {read.examples} examples"
            + (f", and info.num_examples has {declared}" if declared is not None else "")
            + "; do not repeat it"
        )

    def test_num_examples_is_true(self) -> None:
        """`info.num_examples` is the number of evaluation examples."""
        declared = self.num_examples(Mode.EVAL)
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
        steps = min(RESUMED_STEPS, len(self.read(Mode.TRAIN).sizes))
        check_exact_resume(self.source(), batch_size=BATCH_SIZE, steps=steps)
        self.draws().check("the constructor")
