"""`ModelConformance`: the suite for model plugins."""

from __future__ import annotations

import contextlib
import os
import unittest
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.graph.model_output import check_metrics
from tf_frame.testing.conformance.batch_sizes import evaluate_groups, first_difference
from tf_frame.testing.conformance.built_model import BuiltModel
from tf_frame.testing.conformance.golden import check_form, check_golden, locate, write_golden
from tf_frame.testing.conformance.model_graphs import open_evaluation
from tf_frame.testing.conformance.outcomes import fails_as, reported_by
from tf_frame.testing.conformance.resumed_training import unassigned_variables


class ModelConformance(BuiltModel):
    """The checks of models, with the model's default input.

    Attributes:
      input: the name or the class of an input that replaces the model's default input.
      golden: `{"checkpoint": path prefix, "loss": loss}`, as `write_golden` returns it; a
        relative path is relative to the file of the suite.
    """

    golden: ClassVar[Mapping[str, Any] | None] = None

    def test_builds_twice_in_fresh_graphs(self) -> None:
        """The same object builds the same variables in a second graph, and stays as it is.

        It may change if it does not declare `thread_safe_build`.
        """
        graphs = self.graphs()
        with fails_as("build(), or the update of a training step, fails"):
            training = self.training()
        first = _describe(training.graph.model_variables)
        model = training.model.original
        kept = dict(vars(model))
        with fails_as("build() of the same object fails in a second graph; keep no tensors on it"):
            second = _describe(graphs.clones(1, model=training.model))
        changed = [name for name, value in vars(model).items() if kept.get(name) is not value]
        assert not (changed and getattr(model, "thread_safe_build", False)), (
            f"build() changes the attribute {changed[0]}, but thread_safe_build is True; keep "
            "values in the scope of build(), or leave the declaration out"
        )
        assert first == second, (
            f"build() makes other variables in a second graph: {_difference(first, second)}; "
            "names and shapes must depend on nothing but the options and the input"
        )

    def test_variables_are_placed_by_the_framework(self) -> None:
        """With 2 parameter servers and 1, 2 and 3 clones, every variable is on a server."""
        for count in self.clone_counts(reports=False):
            wrong = [
                f"{v.op.name} on {v.device or 'no device'}"
                for v in self.on_servers(count)
                if not v.device.startswith("/job:ps/task:")
            ]
            assert not wrong, (
                f"with {count} clones and 2 parameter servers these variables are elsewhere: "
                f"{', '.join(wrong[:3])}; make them by tf.compat.v1.get_variable or tf.Variable, "
                "which ask the framework for the device"
            )

    def test_clones_share_all_variables(self) -> None:
        """The names of the variables are the same for 1, 2 and 3 clones."""
        expected = None
        for count in self.clone_counts(reports=True):
            with fails_as(f"{count} clones cannot be built"):
                names = _describe(self.on_servers(count))
            expected = names if expected is None else expected
            assert names == expected, (
                f"{count} clones have other variables than one: {_difference(expected, names)}; "
                "make them by tf.compat.v1.get_variable, or set check_options = {'num_clones': 1} "
                "for a model that trains with one clone only"
            )

    def test_evaluation_adds_no_variables(self) -> None:
        """Evaluation has no variable that a checkpoint of the training lacks."""
        trained = _describe(self.training_or_skip().graph.graph)
        with fails_as("build() fails for evaluation"):
            graph, _ = self.evaluation()
        _check_no_more(trained, _describe(graph.graph), "evaluation")

    def test_prediction_needs_no_labels(self) -> None:
        """Built without labels, the model returns predictions and has no further variables."""
        trained = _describe(self.training_or_skip().graph.graph)
        with fails_as("build() fails for prediction, where labels are None"):
            variables, predictions = self.graphs().prediction(self.features)
        _check_no_more(trained, _describe(variables), "prediction")
        assert not isinstance(predictions, Mapping) or predictions, (
            "build() returns no predictions in Mode.PREDICT; return "
            "ModelOutput(predictions={name: tensor}), or nothing can be predicted or exported"
        )

    def test_loss_is_a_finite_scalar(self) -> None:
        """The loss is a scalar of a floating-point type, and finite at the first step."""
        loss = self.training_or_skip().output.loss
        if loss is not None:
            assert tf.is_tensor(loss), f"the loss is {loss!r}; return a tensor"
            assert loss.dtype.is_floating, (
                f"the loss has the type {loss.dtype.name}; cast it to a floating-point type"
            )
            assert loss.shape.rank == 0, (
                f"the loss has the shape {loss.shape}; reduce it to a scalar by tf.reduce_mean"
            )
        with fails_as("the first training step fails"):
            losses = self.resumed_training().losses
        assert np.isfinite(losses[0]), (
            f"the loss of the first step is {losses[0]}; look for a division or log of zero, or "
            "an initial value that is too large"
        )

    def test_every_trainable_variable_has_a_gradient(self) -> None:
        """The loss depends on every trainable variable."""
        pairs = self.training_or_skip().grads_and_vars
        if self.training().output.train_op is not None:
            raise unittest.SkipTest("the model has a train op of its own")
        without = [variable.op.name for gradient, variable in pairs if gradient is None]
        assert not without, (
            f"the loss depends on {len(pairs) - len(without)} of {len(pairs)} trainable variables, "
            f"not on {', '.join(without[:5])}; use them in the loss, make them with "
            "trainable=False, or leave them out"
        )

    def test_update_ops_are_collected(self) -> None:
        """Updates of statistics, such as moving averages, run in every training step."""
        graph = self.training_or_skip().graph
        never = unassigned_variables(graph)
        assert not never, (
            f"the training step does not run the updates of {', '.join(never[:5])}; add the "
            "update operations to tf.GraphKeys.UPDATE_OPS"
        )

    def test_restored_run_has_the_same_next_loss(self) -> None:
        """After saving and restoring, the next steps have exactly the same losses as before."""
        self.training_or_skip()
        with reported_by("test_loss_is_a_finite_scalar"):
            training = self.resumed_training()
        training.check()
        self.training().model.draws.check("build()")

    def test_metrics_can_be_evaluated(self) -> None:
        """Metrics are pairs of a value and an update, and run on a batch of evaluation data."""
        self.training_or_skip()
        with reported_by("test_evaluation_adds_no_variables"):
            graph, output = self.evaluation()
        with fails_as("the metrics of build()"):
            check_metrics(output.metrics, "build()", reserved=("loss", "total_loss"))
        values = [value for value, _ in output.metrics.values()]
        updates = [update for _, update in output.metrics.values()]
        with (
            fails_as("an evaluation step fails"),
            graph.graph.as_default(),
            open_evaluation() as session,
        ):
            session.run([*updates, graph.update_op])
            session.run(list(values))

    def test_evaluation_does_not_depend_on_the_batch_size(self) -> None:
        """Loss and metrics of the same examples are equal in batches of 1, of 2, of 3 and 1."""
        self.training_or_skip()
        with reported_by("test_evaluation_adds_no_variables"):
            graph, output = self.evaluation()
        if not self.evaluation_source().is_regrouped:
            raise unittest.SkipTest("the input decides on the size of its batches")
        # Other checks report a loss or metrics that break the contract.
        has_loss = output.loss is None or getattr(output.loss, "shape", None) == ()
        values, updates = dict(graph.values) if has_loss else {}, [graph.update_op]
        with contextlib.suppress(PluginError):
            check_metrics(output.metrics, "build()")
            values.update({name: value for name, (value, _) in output.metrics.items()})
            updates.extend(update for _, update in output.metrics.values())
        with (
            fails_as("an evaluation step fails"),
            graph.graph.as_default(),
            open_evaluation() as session,
        ):
            try:
                figures = evaluate_groups(session, updates, values)
            except tf.errors.OutOfRangeError as error:
                raise unittest.SkipTest("the evaluation data has less than 4 examples") from error
        difference = first_difference(figures)
        assert not difference, (
            f"{difference}; update a metric with values of all examples, not with the mean of a "
            "batch; for a loss that is no mean over the examples, return ModelOutput(loss_terms="
            "[(sum, count)])"
        )

    def test_golden_checkpoint_restores(self) -> None:
        """A checkpoint of an earlier version restores and gives the loss that it had."""
        if self.golden is None:
            raise unittest.SkipTest(
                "no golden checkpoint; write one by write_golden(PATH) of the suite, and set golden"
            )
        check_form(self.golden)
        graph = self.training_or_skip().graph
        with fails_as("the golden checkpoint does not restore"):
            path = locate(self.golden["checkpoint"], type(self))
            check_golden(graph, path, self.golden["loss"])

    @classmethod
    def write_golden(cls, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Writes a golden checkpoint, and returns the value for the attribute `golden`.

        Args:
          path: path prefix; a relative one is relative to the file of the suite.

        Raises:
          SkipTest: the input has no data here, or the model cannot be constructed.
        """
        loss = write_golden(cls.training().graph, locate(path, cls))
        return {"checkpoint": os.fspath(path), "loss": loss}


def _describe(variables: Any) -> dict[str, str]:
    """Returns name -> type and shape of variables, or of the global variables of a graph."""
    if isinstance(variables, tf.Graph):
        variables = variables.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    return {
        v.op.name: f"{v.dtype.base_dtype.name} {v.shape}"
        + (" trainable" if getattr(v, "trainable", False) else "")
        for v in variables
    }


def _difference(first: Mapping[str, str], second: Mapping[str, str]) -> str:
    """Describes the first variables that differ."""
    names = [n for n in {**first, **second} if first.get(n) != second.get(n)]
    return ", ".join(
        f"{n} ({first.get(n, 'not there')}, then {second.get(n, 'not there')})" for n in names[:3]
    )


def _check_no_more(trained: Mapping[str, str], variables: Mapping[str, str], purpose: str) -> None:
    """Fails if a graph for evaluation or prediction has variables that training does not have."""
    missing = [name for name in variables if name not in trained]
    assert not missing, (
        f"the graph for {purpose} has variables that training does not make, so that no checkpoint "
        f"has them: {', '.join(missing[:5])}; make them for training as well, or as local variables"
    )
    different = [
        f"{name} ({variables[name]}, in training {trained[name]})"
        for name in variables
        if variables[name].removesuffix(" trainable") != trained[name].removesuffix(" trainable")
    ]
    assert not different, (
        f"variables for {purpose} have another shape or type: {', '.join(different[:3])}"
    )
