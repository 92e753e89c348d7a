"""Comparison of a graph's variables with a checkpoint, before anything is restored.

TensorFlow's `Saver` stops at the first variable that is missing or has another shape; here one
error lists all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import CheckpointError
from tf_frame.text import indented

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
