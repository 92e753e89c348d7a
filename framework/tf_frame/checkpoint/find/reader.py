"""Reads checkpoints, and checks that a checkpoint fits a graph before a session restores it.

TensorFlow's `Saver` stops at the first variable that is missing or has another shape; here one
error lists all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError, short_reason
from tf_frame.text import indented, short

# Prefix of the entries that hold the position of a run in its input. They are not variables.
INPUT_POSITION = "input_position/"
# Errors of TensorFlow's reader. An IndexError is raised for a data file that ends too early.
READ_ERRORS = (tf.errors.OpError, ValueError, IndexError, RuntimeError)


class Checkpoint:
    """Names, shapes, types and values of the variables in a checkpoint.

    Args:
      path: path prefix (`runs/first/model.ckpt-120`).

    Attributes:
      path: the path prefix.
      names: names of the variables, sorted.

    Raises:
      CheckpointError: the index cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._reader = tf.train.NewCheckpointReader(path)
            self._shapes = self._reader.get_variable_to_shape_map()
            self._dtypes = self._reader.get_variable_to_dtype_map()
        except READ_ERRORS as error:
            raise unreadable_error(path, error) from error
        self.names: Sequence[str] = sorted(self._shapes)

    def __contains__(self, name: str) -> bool:
        return name in self._shapes

    def shape(self, name: str) -> list[int]:
        """Returns the shape of a variable; of the whole variable if it was saved in parts."""
        return list(self._shapes[name])

    def dtype(self, name: str) -> Any:
        """Returns the `tf.DType` of a variable."""
        return self._dtypes[name]

    def size(self, name: str) -> int:
        """Returns the number of values of a variable."""
        return math.prod(self._shapes[name])

    def num_bytes(self, name: str) -> int | None:
        """Returns the size of a variable in memory; None for texts, which vary in length."""
        dtype = self._dtypes[name]
        return None if dtype == tf.string else self.size(name) * int(dtype.size)

    def type_and_shape(self, name: str) -> str:
        """Returns type and shape of a variable, such as `float32 [3, 3, 3, 32]`."""
        return f"{self._dtypes[name].name} {self.shape(name)}"

    @property
    def parameters(self) -> int:
        """Number of values of all variables, the optimizer's included."""
        return sum(self.size(name) for name in self.names)

    @property
    def global_step(self) -> int | None:
        """Global step of the checkpoint; None if there is no single one."""
        if "global_step" not in self or self.size("global_step") != 1:
            return None
        return int(self.read("global_step").reshape(()))

    def read(self, name: str) -> Any:
        """Reads one variable as an array; texts are bytes in an array of objects.

        Raises:
          CheckpointError: the data file is damaged.
        """
        try:
            value = self._reader.get_tensor(name)
        except READ_ERRORS as error:
            raise unreadable_error(self.path, error) from error
        if self._dtypes[name] != tf.string:
            return np.asarray(value)
        texts = np.empty(self._shapes[name], dtype=object)
        texts[...] = value  # np.asarray would cut zero bytes off the end of a text.
        return texts


def unreadable_error(path: str, error: Exception) -> CheckpointError:
    """Returns the error for a damaged checkpoint."""
    return CheckpointError(
        f"the checkpoint {short(path)} cannot be read: {short_reason(error)}\n"
        "take another one, or copy its .index and .data files here again"
    )


def check_match(path: str, variables: Iterable[Any]) -> None:
    """Compares names and shapes of variables that are to be restored with a checkpoint.

    Raises:
      CheckpointError: the index cannot be read, or variables are missing or have other shapes.
    """
    checkpoint = Checkpoint(path)
    differences = [line for v in variables if (line := _difference(v, checkpoint))]
    if differences:
        raise CheckpointError(
            f"{short(path)} is a checkpoint of another model: {len(differences)} variables differ\n"
            f"{indented(differences)}\n"
            "use the options that it was trained with, or another --model_dir"
        )


def describe_unused(path: str, variables: Iterable[Any]) -> str:
    """Describes the variables of a checkpoint that the graph does not have; empty without any.

    The run that saved them had other options, such as another optimizer. The next checkpoint
    does not hold them.
    """
    restored = {saved_name(variable) for variable in variables}
    saved = Checkpoint(path).names
    names = [n for n in saved if n not in restored and not n.startswith(INPUT_POSITION)]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return (
        f"{len(names)} variables in {path} are not used with these options, and will not be in "
        f"the next checkpoint: {shown}"
    )


def _difference(variable: Any, checkpoint: Checkpoint) -> str:
    if hasattr(variable, "op") and variable.shape.rank is None:  # Takes values of any shape.
        name = saved_name(variable)
        return "" if name in checkpoint else f"{name}: not in the checkpoint"
    name, shape = saved_name_and_shape(variable)
    if name not in checkpoint:
        return f"{name} {shape}: not in the checkpoint"
    saved = checkpoint.shape(name)
    return "" if saved == shape else f"{name} {shape}: {saved} in the checkpoint"


def saved_name(variable: Any) -> str:
    """Returns the name of a variable in a checkpoint; see `saved_name_and_shape`."""
    if not hasattr(variable, "op"):  # A PartitionedVariable, or a list of its parts.
        return saved_name(next(iter(variable)))
    part = variable._get_save_slice_info()
    return str(variable.op.name if part is None else part.full_name)


def saved_name_and_shape(variable: Any) -> tuple[str, list[int]]:
    """Returns name and shape of a variable in a checkpoint, which holds whole variables.

    Args:
      variable: a variable, one part of a partitioned variable, or all parts together.

    Raises:
      ValueError: the variable was made with `validate_shape=False`, and has no shape.
    """
    if not hasattr(variable, "op"):
        return saved_name_and_shape(next(iter(variable)))
    part = variable._get_save_slice_info()
    shape = variable.shape.as_list() if part is None else list(part.full_shape)
    return saved_name(variable), shape
