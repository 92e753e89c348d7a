"""Golden checkpoints: saved variables, and the loss of the first training batch with these values.

A later version of a model that cannot read the checkpoint, or computes another loss, breaks the
runs of its users.
"""

from __future__ import annotations

import inspect
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, check_match
from tf_frame.file_system import is_remote
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.testing.conformance.model_graphs import open_session

# Machines round differently, and so do versions of TensorFlow.
_TOLERANCE = 1e-3
_STEPS = 2
# Key, types and their name.
_FIELDS = (
    ("checkpoint", (str, os.PathLike), "path prefix"),
    ("loss", numbers.Real, "number"),
)


def locate(path: str | os.PathLike[str], suite: type) -> str:
    """Returns the path prefix of a golden checkpoint, wherever pytest was started.

    Args:
      path: a path prefix; a relative one is relative to the file of the suite, or to the current
        folder for a suite without a file.
      suite: the suite that the checkpoint belongs to.
    """
    prefix = os.fspath(path)
    if is_remote(prefix):
        return prefix
    try:
        folder = os.path.dirname(inspect.getfile(suite))
    except (OSError, TypeError):  # A class from an interactive session or without a module.
        folder = ""
    return os.path.abspath(os.path.join(folder, prefix))


def check_form(golden: Any) -> None:
    """Raises AssertionError unless the attribute `golden` of a suite has the form of a result."""
    advice = "set it to what write_golden(PATH) of the suite returned"
    assert isinstance(golden, Mapping), f"golden is {golden!r}, which is no dict; {advice}"
    for name, types, words in _FIELDS:
        assert name in golden, f"golden is {golden!r}, without {name!r}; {advice}"
        assert isinstance(golden[name], types), (
            f"golden[{name!r}] is {golden[name]!r}, which is no {words}; {advice}"
        )


def write_golden(graph: TrainGraph, path: str) -> float:
    """Trains for two steps and saves the variables of the model to a path prefix.

    Returns:
      The loss of the first batch with these values.
    """
    variables = _variables(graph)
    with open_session(graph) as session:
        for _ in range(_STEPS):
            session.run(graph.train_op)
        values = session.run(variables)
    tf.io.gfile.makedirs(os.path.dirname(path))
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
    return _loss(graph, variables, values)


def check_golden(graph: TrainGraph, path: str, expected: float) -> None:
    """Restores a golden checkpoint and compares the loss with the result of `write_golden`.

    Raises:
      AssertionError: the loss differs.
      CheckpointError: the checkpoint does not fit, or cannot be read.
    """
    variables = _variables(graph)
    check_match(path, variables)
    checkpoint = Checkpoint(path)
    values = [checkpoint.read(variable.op.name) for variable in variables]
    loss = _loss(graph, variables, values)
    assert np.isclose(loss, expected, rtol=_TOLERANCE), (
        f"with the golden checkpoint {path} the loss is {loss}, and was {expected}: the "
        "model computes something else than the version that wrote it; take the change back, or "
        "make it an option that is off by default"
    )


def _variables(graph: TrainGraph) -> list[Any]:
    return [variable for variable in graph.model_variables if variable is not graph.global_step]


def _loss(graph: TrainGraph, variables: Sequence[Any], values: Sequence[Any]) -> float:
    """Returns the loss of the first batch with values of the variables."""
    with open_session(graph) as session:
        for variable, value in zip(variables, values, strict=True):
            variable.load(value, session)
        return float(session.run(graph.train_op))
