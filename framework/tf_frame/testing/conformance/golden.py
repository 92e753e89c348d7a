"""Golden checkpoints: values of variables and the loss that a version of a model gives with them.

A later version that cannot read the checkpoint, or computes another loss, breaks the runs of its
users. The loss is that of the first training batch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, check_match
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.testing.conformance.model_graphs import session_of

# Machines round differently, and so do versions of TensorFlow.
_TOLERANCE = 1e-3
_STEPS = 2


def write_golden(graph: TrainGraph, path: str) -> dict[str, Any]:
    """Trains for two steps and saves the variables of the model.

    Args:
      graph: the training graph.
      path: path prefix of the checkpoint.

    Returns:
      The value for the attribute `golden` of a suite.
    """
    variables = _variables(graph)
    with session_of(graph) as session:
        for _ in range(_STEPS):
            session.run(graph.train_op)
        values = session.run(variables)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    names = [variable.op.name for variable in variables]
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(value) for value in values]
        session.run(
            tf.raw_ops.SaveV2(
                prefix=path,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=tensors,
            )
        )
    return {"checkpoint": path, "loss": _loss(graph, variables, values)}


def check_golden(graph: TrainGraph, golden: Mapping[str, Any]) -> None:
    """Restores a golden checkpoint and compares the loss.

    Raises:
      AssertionError: the loss is another one.
      CheckpointError: the checkpoint does not fit, or cannot be read.
    """
    path, variables = str(golden["checkpoint"]), _variables(graph)
    check_match(path, variables)
    checkpoint = Checkpoint(path)
    values = [checkpoint.read(variable.op.name) for variable in variables]
    loss = _loss(graph, variables, values)
    assert np.isclose(loss, golden["loss"], rtol=_TOLERANCE), (
        f"with the golden checkpoint {path} the loss is {loss}, and was {golden['loss']}: the "
        "model computes something else than the version that wrote it; take the change back, or "
        "make an option of it whose default is the old behaviour"
    )


def _variables(graph: TrainGraph) -> list[Any]:
    return [variable for variable in graph.model_variables if variable is not graph.global_step]


def _loss(graph: TrainGraph, variables: Sequence[Any], values: Sequence[Any]) -> float:
    """The loss of the first batch with given values."""
    with session_of(graph) as session:
        for variable, value in zip(variables, values, strict=True):
            variable.load(value, session)
        return float(session.run(graph.train_op))
