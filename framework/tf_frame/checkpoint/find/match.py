"""Whether a checkpoint belongs to a graph, before anything is restored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError

_SHOWN = 8

# What begins so says where a run stood in its input, and is no variable.
INPUT_POSITION = "input_position/"


def check_match(path: str, variables: Iterable[Any]) -> None:
    """Compares names and shapes of variables with those of a checkpoint.

    Args:
      path: path prefix of the checkpoint.
      variables: what is to be restored.

    Raises:
      CheckpointError: a variable is missing or has another shape; the message
        lists which.
    """
    shapes = tf.train.load_checkpoint(path).get_variable_to_shape_map()
    differences = [line for v in variables if (line := _difference(v, shapes))]
    if not differences:
        return
    shown = differences[:_SHOWN]
    if len(differences) > _SHOWN:
        shown.append(f"and {len(differences) - _SHOWN} more")
    raise CheckpointError(
        f"{path} is a checkpoint of another model: {len(differences)} variables differ\n  "
        + "\n  ".join(shown)
        + "\nuse the options that it was trained with, or another --model_dir"
    )


def not_used(path: str, variables: Iterable[Any]) -> str:
    """Says which variables of a checkpoint the graph does not have; empty if none.

    They were made with other options, such as another optimizer, and go with
    the next checkpoint.

    Args:
      path: path prefix of the checkpoint.
      variables: what is to be restored.
    """
    wanted = {saved_as(variable)[0] for variable in variables}
    found = [name for name, _ in tf.train.list_variables(path)]
    names = [n for n in found if n not in wanted and not n.startswith(INPUT_POSITION)]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return (
        f"{len(names)} variables in {path} are not used with these options, and will not be in "
        f"the next checkpoint: {shown}"
    )


def _difference(variable: Any, shapes: dict[str, list[int]]) -> str:
    name, shape = saved_as(variable)
    if name not in shapes:
        return f"{name} {shape}: not in the checkpoint"
    if shapes[name] != shape:
        return f"{name} {shape}: {shapes[name]} in the checkpoint"
    return ""


def saved_as(variable: Any) -> tuple[str, list[int]]:
    """Name and shape in a checkpoint; the parts of a partitioned variable are saved as one.

    Args:
      variable: a variable, one part of a partitioned one, or all of its parts together.
    """
    if not hasattr(variable, "op"):  # A PartitionedVariable, or a list of its parts.
        return saved_as(next(iter(variable)))
    part = variable._get_save_slice_info()
    if part is not None:
        return part.full_name, list(part.full_shape)
    return variable.op.name, variable.shape.as_list()
