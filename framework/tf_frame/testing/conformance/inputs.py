"""`InputConformance`: the checks of inputs."""

from __future__ import annotations

import unittest

from tf_frame.plugin import InputInfo, Mode
from tf_frame.testing.conformance.outcomes import fails_as, not_checked
from tf_frame.testing.conformance.read_input import BATCH_SIZE, MOST_SECS, RESUMED_STEPS, ReadInput
from tf_frame.testing.exact_resume import check_exact_resume


class InputConformance(ReadInput):
    """The checks of inputs.

    An input whose data the user has to give needs options; without them the checks that read data
    are skipped.
    """

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
        assert not read.ended, (
            f"the training data ends after {len(read.sizes)} batches of {BATCH_SIZE}; repeat it: "
            "dataset.repeat() before batch()"
        )

    def test_evaluation_ends_after_one_pass(self) -> None:
        """Evaluation data ends, after as many examples as `info` says at the most."""
        read = self.read_evaluation()
        declared = self.info().num_examples.get(Mode.EVAL)
        if not read.ended and read.timed_out:
            raise unittest.SkipTest(f"not at its end after {MOST_SECS:g} s; give smaller data")
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
        steps = min(RESUMED_STEPS, len(self.read(Mode.TRAIN).sizes))
        check_exact_resume(self.source(), batch_size=BATCH_SIZE, steps=steps)
