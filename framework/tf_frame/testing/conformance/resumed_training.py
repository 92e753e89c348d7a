"""`train_and_resume`: a short training, its checkpoint, and the same steps after a restore."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import unittest
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame.checkpoint.names import PREFIX
from tf_frame.errors import DataError
from tf_frame.graph.graph_edits import ASSIGNMENTS, ancestors
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.testing.conformance.model_graphs import open_session
from tf_frame.testing.conformance.outcomes import describe_error

_STEPS = 2
_ALIKE = 3  # Steps after the checkpoint that are compared.


@dataclasses.dataclass(frozen=True)
class ResumedTraining:
    """Losses of a training that was saved.

    Attributes:
      losses: the losses of the first steps.
      uninterrupted: the losses of the steps after the checkpoint.
      restored: the losses of the same steps after a restore; None if the restore failed.
      failure: the error of saving or restoring; None without one.
      without_position: why the position in the input cannot be saved; empty if it can.
      not_repeatable: descriptions of state that no restore can repeat.
    """

    losses: Sequence[Any]
    uninterrupted: Sequence[Any]
    restored: Sequence[Any] | None
    failure: Exception | None
    without_position: str
    not_repeatable: Sequence[str]

    def check(self) -> None:
        """Raises AssertionError unless the restored steps have exactly the same losses."""
        if self.without_position:
            raise unittest.SkipTest(f"the input cannot be resumed: {self.without_position}")
        if self.failure is not None:
            raise AssertionError(
                f"a checkpoint cannot be saved and restored: {describe_error(self.failure)}"
            ) from self.failure
        pairs = zip(self.uninterrupted, self.restored or (), strict=True)
        for number, (expected, loss) in enumerate(pairs, start=1):
            reasons = f" ({'; '.join(self.not_repeatable)})" if self.not_repeatable else ""
            assert np.array_equal(expected, loss, equal_nan=True), (
                f"the loss of step {number} after a restore is {loss}, without it {expected}"
                f"{reasons}; is there a state that no checkpoint has, such as a local variable, a "
                "Python counter or random numbers of NumPy? Make it a global variable, and draw "
                "random numbers by operations of TensorFlow"
            )


def train_and_resume(graph: TrainGraph) -> ResumedTraining:
    """Trains for a few steps, saves, goes on; restores and goes on again."""
    position = graph.input_position
    with tempfile.TemporaryDirectory() as folder:
        path: Any = None
        restored: list[Any] | None = None
        failure: Exception | None = None
        without_position = ""
        with open_session(graph) as session:
            losses = [session.run(graph.train_op) for _ in range(_STEPS)]
            saved: dict[str, Any] = {}
            try:
                if position is not None:
                    position.check(session)
                    saved = session.run(position.tensors)
            except DataError as error:
                without_position = str(error).splitlines()[0]
            try:
                prefix = os.path.join(folder, PREFIX)
                path = graph.scaffold.saver.save(session, prefix, write_meta_graph=False)
            except Exception as error:
                failure = error
            uninterrupted = [session.run(graph.train_op) for _ in range(_ALIKE)]
        if path is not None and not without_position:
            try:
                with open_session(graph, path) as session:
                    if position is not None:
                        position.put(session, saved)
                    restored = [session.run(graph.train_op) for _ in range(_ALIKE)]
            except Exception as error:
                failure = error
    return ResumedTraining(
        losses, uninterrupted, restored, failure, without_position, graph.not_repeatable
    )


def unassigned_variables(graph: TrainGraph) -> list[str]:
    """Returns the names of variables with an assignment that the training step does not run.

    Initial values and restores of savers do not count as assignments.
    """
    in_step = {op.name for op in ancestors([graph.train_op])}
    initial = {v.initializer.name for v in graph.model_variables if v.initializer is not None}
    handles = {v.op.name for v in graph.model_variables if not v.trainable}
    assigned: dict[str, bool] = {}
    for op in graph.graph.get_operations():
        is_update = op.type in ASSIGNMENTS and op.name not in initial
        if not is_update or op.inputs[0].op.name not in handles or _restores(op):
            continue
        name = op.inputs[0].op.name
        assigned[name] = assigned.get(name, False) or op.name in in_step
    return [name for name, runs in assigned.items() if not runs]


def _restores(op: Any) -> bool:
    return any(ancestor.type == "RestoreV2" for ancestor in ancestors([op]))
