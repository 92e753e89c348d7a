"""Which variables a checkpoint can initialise, as the Object Detection API found out."""

from __future__ import annotations

import logging
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import saved_as
from tf_frame.checkpoint.find.path import resolve
from tf_frame.checkpoint.find.reader import Checkpoint

_LOG = logging.getLogger("tf_frame")


def available_in_checkpoint(
    variables: Any, path: str, include_global_step: bool = True
) -> list[Any] | dict[str, Any]:
    """Selects the variables that a checkpoint has with the same shape.

    It is `get_variables_available_in_checkpoint` of
    tensorflow/models/research/object_detection/utils/variables_helper.py. What
    is left out is logged as a warning.

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
      CheckpointError: it cannot be read.
    """
    if isinstance(variables, dict):
        named = sorted(variables.items(), key=lambda item: item[0])
    elif isinstance(variables, list):
        named = sorted(((saved_as(v)[0], v) for v in variables), key=lambda item: item[0])
    else:
        raise ValueError("`variables` is expected to be a list or dict.")
    checkpoint = Checkpoint(resolve(path))
    available = [
        (name, variable)
        for name, variable in named
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
