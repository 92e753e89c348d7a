"""`GradientTransformConformance`: the suite for gradient transforms."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.testing.conformance.model_graphs import open_session
from tf_frame.testing.conformance.outcomes import describe_error, fails_as, reported_by, usable_here
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.testing.toy import build_toy_graph
from tf_frame.text import short_repr

# Variables with gradients that many transforms do not expect; each has its check.
UNUSED, EMBEDDING, EXACT = "unused/weights", "embedding/weights", "exact/weights"
UNEXPECTED = (UNUSED, EMBEDDING, EXACT)
_BUILDS = "test_builds_twice_in_fresh_graphs"


@dataclasses.dataclass(frozen=True)
class Transformed:
    """A graph with gradients before and after the transform.

    Attributes:
      passed, returned: the pairs of gradient and variable.
    """

    graph: Any
    passed: Sequence[tuple[Any, Any]]
    returned: Sequence[tuple[Any, Any]]

    def pairs(self) -> list[tuple[Any, Any, Any]]:
        """Returns each returned variable with its gradients before and after."""
        before = {id(variable): gradient for gradient, variable in self.passed}
        return [(v, before[id(v)], g) for g, v in self.returned if id(v) in before]


class GradientTransformConformance(Conformance):
    """The checks of gradient transforms, on gradients of every form."""

    kind = GRADIENT_TRANSFORM

    def test_builds_twice_in_fresh_graphs(self) -> None:
        """The same object changes the gradients of a second graph."""
        transform, without = self.made_plugin(), tuple(self.refused())
        with fails_as("the transform fails"), usable_here("the transform"):
            _transform(transform, without)
        with fails_as("the same object fails in a second graph; keep no tensors on it"):
            _transform(transform, without)

    def test_keeps_the_order_of_the_pairs(self) -> None:
        """Every variable is returned, in the order given."""
        pairs = self.transformed()
        names = [variable.op.name for _, variable in pairs.passed]
        returned = [variable.op.name for _, variable in pairs.returned]
        removes = getattr(self.loaded().cls, "removes_pairs", False)
        missing = [] if removes else [name for name in names if name not in returned]
        assert not missing, (
            f"the pairs of {', '.join(missing)} are missing; return pairs that the transform does "
            "not handle unchanged, or declare removes_pairs = True in the class"
        )
        ordered = [name for name in names if name in returned]
        assert returned == ordered, (
            f"the pairs come as {returned}, and were given as {ordered}; keep the order"
        )

    def test_keeps_none(self) -> None:
        """A variable without a gradient gets none."""
        self.report_refusal(
            UNUSED, "a variable without a gradient (None)", "return its pair unchanged"
        )
        wrong = [
            v.op.name
            for v, before, after in self.transformed().pairs()
            if before is None and after is not None
        ]
        assert not wrong, (
            f"{', '.join(wrong)} had no gradient (None) and gets one; return the pair unchanged, "
            "or the optimizer makes slots for it and moves it"
        )

    def test_keeps_types_and_shapes(self) -> None:
        """A gradient keeps its type and its shape."""
        self.report_refusal(
            EXACT, "a float64 gradient next to float32 ones", "compute in gradient.dtype"
        )
        for variable, before, after in self.transformed().pairs():
            if before is None or after is None:
                continue
            assert after.dtype == before.dtype, (
                f"the gradient of {variable.op.name} was {before.dtype.name} and is "
                f"{after.dtype.name}; cast to gradient.dtype"
            )
            assert after.shape.is_compatible_with(variable.shape), (
                f"the gradient of {variable.op.name} has the shape {after.shape}, the variable "
                f"{variable.shape}; keep the shape"
            )

    def test_keeps_sparse_gradients_sparse(self) -> None:
        """A sparse gradient (`tf.IndexedSlices`) stays sparse."""
        self.report_refusal(
            EMBEDDING,
            "tf.IndexedSlices, the gradient of an embedding",
            "change its values alone (tf_frame.gradient_transforms.values.on_values)",
        )
        if getattr(self.loaded().cls, "makes_dense", False):
            return
        for variable, before, after in self.transformed().pairs():
            sparse = isinstance(before, tf.IndexedSlices) and after is not None
            assert not sparse or isinstance(after, tf.IndexedSlices), (
                f"the gradient of {variable.op.name} was tf.IndexedSlices and is dense, which "
                "costs the memory of the whole variable; change its values alone "
                "(tf_frame.gradient_transforms.values.on_values), or declare makes_dense = True"
            )

    def test_does_not_change_variables(self) -> None:
        """Computing the gradients leaves the variables as they are, and they stay finite."""
        pairs = self.transformed()
        variables = [variable for _, variable in pairs.passed]
        gradients = [gradient for gradient, _ in pairs.returned if gradient is not None]
        with pairs.graph.as_default(), tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            before = session.run(variables)
            with fails_as("the transformed gradients cannot be computed"):
                session.run([getattr(g, "values", g) for g in gradients])
            after = session.run(variables)
        values = zip(variables, before, after, strict=True)
        changed = [v.op.name for v, old, new in values if not np.array_equal(old, new)]
        assert not changed, (
            f"computing the gradients changes {', '.join(changed)}; a transform only changes "
            "gradients, the optimizer changes the variables"
        )

    def test_trains(self) -> None:
        """The toy model trains with it in the framework's update, with 2 clones."""
        self.transformed()
        config = RunOptions(train_batch_size=4, num_clones=2, clone_on_cpu=True)
        with fails_as("a training step of the toy model fails"):
            graph = build_toy_graph(config, transforms=[self.made_plugin()], optimizer="sgd")
            with open_session(graph) as session:
                losses = [session.run(graph.train_op) for _ in range(2)]
        assert np.all(np.isfinite(losses)), f"the losses of a training are {losses}"

    def transformed(self) -> Transformed:
        """Returns gradients before and after the transform.

        Raises:
          SkipTest: the transform fails; another check reports that.
        """
        without = tuple(self.refused())
        with reported_by(_BUILDS):
            return self.kept("transformed", lambda: _transform(self.made_plugin(), without))

    def refused(self) -> Mapping[str, Exception]:
        """Returns variable -> error for the gradients that the transform fails on."""

        def find() -> dict[str, Exception]:
            if self._error(()) is None or self._error(UNEXPECTED) is not None:
                return {}
            errors = {name: self._error({*UNEXPECTED} - {name}) for name in UNEXPECTED}
            return {name: error for name, error in errors.items() if error is not None}

        return self.kept("refused", find)

    def _error(self, without: Collection[str]) -> Exception | None:
        transform = self.made_plugin()
        try:
            _transform(transform, without)
        except Exception as error:
            return error
        return None

    def report_refusal(self, variable: str, gradient: str, change: str) -> None:
        """Fails the check if the transform fails on the gradient of a variable.

        Args:
          variable: its name.
          gradient: the gradient, in words.
          change: the advice.

        Raises:
          AssertionError: the transform fails on it.
        """
        error = self.refused().get(variable)
        if error is not None:
            raise AssertionError(
                f"the transform fails on {gradient}; {change}: {describe_error(error)}"
            ) from error


def _transform(transform: Any, without: Collection[str] = ()) -> Transformed:
    """Calls a transform with dense and sparse gradients of several types and with None.

    Variables with a name in `without` are left out.
    """
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        tf.train.create_global_step()
        passed = [pair for pair in _gradients() if pair[1].op.name not in without]
        # The transform may change its list.
        returned = transform(list(passed))
        assert isinstance(returned, (list, tuple)), (
            f"the transform returned {returned!r:.80}; return a list of (gradient, variable) pairs"
        )
        wrong = [p for p in returned if not (isinstance(p, tuple) and len(p) == 2)]
        assert not wrong, f"the transform returned the pair {wrong[0]!r:.80}; return 2-tuples"
        variables = [id(variable) for _, variable in passed]
        unknown = [second for _, second in returned if id(second) not in variables]
        assert not unknown, (
            f"the transform returned a pair with {short_repr(unknown[0])} instead of a variable "
            "that it was given; return (gradient, variable) pairs"
        )
        return Transformed(graph, passed, returned)


def _gradients() -> list[tuple[Any, Any]]:
    weights = tf.get_variable("linear/weights", [3, 1])
    biases = tf.get_variable("linear/biases", [1])
    exact = tf.get_variable(EXACT, [2, 2], tf.float64)
    embedding = tf.get_variable(EMBEDDING, [4, 2])
    unused = tf.get_variable(UNUSED, [2])
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([3, 1]), tf.constant([4, 2]))
    return [
        (tf.constant([[3.0], [-4.0], [0.5]]), weights),
        (None, unused),
        (slices, embedding),
        (tf.constant([[1.0, -2.0], [0.0, 4.0]], tf.float64), exact),
        (tf.constant([0.25]), biases),
    ]
