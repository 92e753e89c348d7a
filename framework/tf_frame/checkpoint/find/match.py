"""Comparison of a graph's variables with a checkpoint, before anything is restored.

TensorFlow's `Saver` stops at the first variable that is missing or has another shape; here one
error lists all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import CheckpointError
from tf_frame.text import indented

_LOG = logging.getLogger("tf_frame")

# Entries with this prefix hold the position of a run in its input; they are no variables.
INPUT_POSITION = "input_position/"


def check_match(path: str, variables: Iterable[Any]) -> None:
    """Compares names and shapes of variables with those of a checkpoint.

    Args:
      path: path prefix of the checkpoint.
      variables: the variables that are to be restored.

    Raises:
      CheckpointError: the index cannot be read; or variables are missing or have other
        shapes, and the message lists them.
    """
    checkpoint = Checkpoint(path)
    differences = [line for v in variables if (line := _difference(v, checkpoint))]
    if differences:
        raise CheckpointError(
            f"{path} is a checkpoint of another model: {len(differences)} variables differ\n"
            f"{indented(differences)}\n"
            "use the options that it was trained with, or another --model_dir"
        )


def not_used(path: str, variables: Iterable[Any]) -> str:
    """A line about the variables of a checkpoint that the graph does not have; empty if none.

    They were made with other options, such as another optimizer, and the next checkpoint
    does not hold them.

    Args:
      path: path prefix of the checkpoint.
      variables: the variables that are to be restored.
    """
    wanted = {saved_as(variable)[0] for variable in variables}
    found = Checkpoint(path).names
    names = [n for n in found if n not in wanted and not n.startswith(INPUT_POSITION)]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return (
        f"{len(names)} variables in {path} are not used with these options, and will not be in "
        f"the next checkpoint: {shown}"
    )


def _difference(variable: Any, checkpoint: Checkpoint) -> str:
    name, shape = saved_as(variable)
    if name not in checkpoint:
        return f"{name} {shape}: not in the checkpoint"
    found = checkpoint.shape(name)
    return "" if found == shape else f"{name} {shape}: {found} in the checkpoint"


def saved_as(variable: Any) -> tuple[str, list[int]]:
    """Name and shape of a variable in a checkpoint, where partitioned variables are whole.

    Args:
      variable: a variable, one part of a partitioned one, or all of its parts together.
    """
    if not hasattr(variable, "op"):  # A PartitionedVariable, or a list of its parts.
        return saved_as(next(iter(variable)))
    part = variable._get_save_slice_info()
    if part is not None:
        return part.full_name, list(part.full_shape)
    return variable.op.name, variable.shape.as_list()


def available_in_checkpoint(
    variables: Any, path: str, include_global_step: bool = True
) -> list[Any] | dict[str, Any]:
    """Selects the variables that a checkpoint has with the same shape.

    As `get_variables_available_in_checkpoint` of
    tensorflow/models/research/object_detection/utils/variables_helper.py; the other variables
    are logged as warnings.

    Args:
      variables: a list, or a dict of name in the checkpoint -> variable. The
        parts of a partitioned variable go by its full name.
      path: a checkpoint in any form that `path.resolve` takes.
      include_global_step: whether `global_step` counts as available.

    Returns:
      The same kind of container, ordered by name.

    Raises:
      ValueError: `variables` is neither.
      ConfigError: there is no such checkpoint.
      CheckpointError: the checkpoint cannot be read.
    """
    if isinstance(variables, dict):
        named = list(variables.items())
    elif isinstance(variables, list):
        named = [(saved_as(variable)[0], variable) for variable in variables]
    else:
        raise ValueError("`variables` is expected to be a list or dict.")
    checkpoint = Checkpoint(resolve(path))
    available = [
        (name, variable)
        for name, variable in sorted(named, key=lambda item: item[0])
        if _is_available(name, variable, checkpoint, include_global_step)
    ]
    return dict(available) if isinstance(variables, dict) else [v for _, v in available]


def _is_available(
    name: str, variable: Any, checkpoint: Checkpoint, include_global_step: bool
) -> bool:
    left_out = name == tf.GraphKeys.GLOBAL_STEP and not include_global_step
    if name not in checkpoint or left_out:
        _LOG.warning("Variable [%s] is not available in checkpoint", name)
        return False
    found, shape = checkpoint.shape(name), saved_as(variable)[1]
    if found != shape:
        _LOG.warning(
            "Variable [%s] is available in checkpoint, but has an incompatible shape with model "
            "variable. Checkpoint shape: [%s], model variable shape: [%s]. This variable will "
            "not be initialized from the checkpoint.",
            name,
            found,
            shape,
        )
        return False
    return True
