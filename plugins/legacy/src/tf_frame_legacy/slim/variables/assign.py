"""Assignment of values from a checkpoint or from arrays to variables.

`assign_from_checkpoint_fn` is the `init_fn` of scripts that begin with pretrained weights. Names,
arguments and error messages are from tf_slim, ops/variables.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name, saved_name_and_shape

# A list of variables, or name in the checkpoint -> variable, or -> parts of a partitioned one.
Variables = Sequence[Any] | Mapping[str, Any]


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Creates the operation that assigns arrays to variables; the arrays are fed.

    Args:
      var_names_to_values: op name of a global variable -> array with the same number of
        elements, which is reshaped.

    Returns:
      The operation and its feed_dict.

    Raises:
      ValueError: no variable has a name, or a number of elements differs.
    """
    pairs = [(_variable_named(name), value) for name, value in var_names_to_values.items()]
    return _assignments((v, np.asarray(value).reshape(v.shape.as_list())) for v, value in pairs)


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Returns a function of a session that runs `assign_from_values`."""
    assign_op, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feed_dict)


def assign_from_checkpoint(
    model_path: str, var_list: Variables, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """Creates the operation that assigns the values of a checkpoint to variables.

    The values are read by this call and fed later, so that the operation needs neither
    files nor a Saver.

    Args:
      model_path: a checkpoint, or a folder, for its newest checkpoint.
      var_list: variables, or name in the checkpoint -> variable or list of variables
        that all get this value. The parts of a partitioned variable have the name of the
        whole variable, and each gets its part of the value.
      ignore_missing_vars: warn of variables that are missing in the checkpoint.

    Returns:
      The operation and its feed_dict; without effect for an empty `var_list`.

    Raises:
      ValueError: a variable is missing in the checkpoint, or has another shape there.
      ConfigError: the checkpoint does not exist.
      CheckpointError: the checkpoint cannot be read.
    """
    checkpoint = Checkpoint(resolve_checkpoint(model_path))
    pairs = []
    for name, variables in by_saved_name(var_list).items():
        if name in checkpoint:
            value = checkpoint.read(name)
            pairs += [(variable, _select_part(value, name, variable)) for variable in variables]
        elif ignore_missing_vars:
            tf.logging.warning("Checkpoint is missing variable [%s]", name)
        else:
            raise ValueError(f"Checkpoint is missing variable [{name}]")
    return _assignments(pairs)


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Variables,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """Returns a function of a session that restores variables, an `init_fn` for training.

    Args:
      model_path: a checkpoint, or a folder, for its newest checkpoint.
      var_list: variables, or name in the checkpoint -> variable.
      ignore_missing_vars: warn of variables that are missing in the checkpoint.
      reshape_variables: accept another shape with the same number of elements.

    Returns:
      The function; None if `ignore_missing_vars` leaves no variable. The function raises
      `tf.errors.NotFoundError` for a missing variable (without `ignore_missing_vars`),
      and `tf.errors.InvalidArgumentError` for another shape.

    Raises:
      ValueError: `var_list` is empty.
      ConfigError: the checkpoint does not exist.
      CheckpointError: the checkpoint cannot be read.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    checkpoint = Checkpoint(resolve_checkpoint(model_path))
    if ignore_missing_vars:
        var_list = _present(var_list, checkpoint)
    if not var_list:
        tf.logging.warning("No Variables to restore")
        return None
    saver = tf.train.Saver(var_list, reshape=reshape_variables)
    named = by_saved_name(var_list)

    def restore(session: Any) -> None:
        if not reshape_variables:
            _check_shapes(named, checkpoint)
        saver.restore(session, checkpoint.path)

    return restore


def _variable_named(name: str) -> Any:
    variables = tf.global_variables()
    for variable in variables:
        if variable.op.name == name:
            return variable
    if any(variable.op.name.startswith(name) for variable in variables):
        raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
    raise ValueError(f"Variable {name} wasn't found")


def _assignments(pairs: Iterable[tuple[Any, Any]]) -> tuple[Any, dict[Any, Any]]:
    assign_ops, feed_dict = [], {}
    for variable, value in pairs:
        placeholder = tf.placeholder(
            variable.dtype.base_dtype, variable.shape, name=f"placeholder/{variable.op.name}"
        )
        assign_ops.append(variable.assign(placeholder, read_value=False))
        feed_dict[placeholder] = value
    return tf.group(*assign_ops), feed_dict


def by_saved_name(var_list: Variables) -> dict[str, list[Any]]:
    """Returns name in the checkpoint -> variables that get its value, or a part of it."""
    if isinstance(var_list, Mapping):
        return {name: _as_list(variables) for name, variables in var_list.items()}
    grouped: dict[str, list[Any]] = {}
    for variable in var_list:
        grouped.setdefault(saved_name(variable), []).extend(_as_list(variable))
    return grouped


def _as_list(variables: Any) -> list[Any]:
    """Returns the parts of a PartitionedVariable, the list itself, or a list of one variable."""
    return [variables] if hasattr(variables, "op") else list(variables)


def _select_part(value: Any, name: str, variable: Any) -> Any:
    """Returns the part of a value in a checkpoint that belongs to a variable."""
    shape = saved_name_and_shape(variable)[1]
    if list(value.shape) != shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {name} "
            f"lh_shape: [{value.shape}], rh_shape: [{tuple(shape)}]"
        )
    part = variable._get_save_slice_info()
    if part is None:
        return value
    ends = zip(part.var_offset, part.var_shape, strict=True)
    return value[tuple(slice(start, start + size) for start, size in ends)]


def _check_shapes(named: Mapping[str, list[Any]], checkpoint: Checkpoint) -> None:
    """Refuses other shapes; a Saver would change the shape of a resource variable."""
    for name, variables in named.items():
        shape = saved_name_and_shape(variables[0])[1]
        if name in checkpoint and checkpoint.shape(name) != shape:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"{variables[0].op.name} has shape {shape}, and {checkpoint.shape(name)} as "
                f"{name} in the checkpoint {checkpoint.path}; omit the variable, or set "
                "reshape_variables=True to reshape its value",
            )


def _present(var_list: Variables, checkpoint: Checkpoint) -> dict[str, Any]:
    """Returns name -> variable of the variables that the checkpoint has."""
    named = by_saved_name(var_list) if not isinstance(var_list, Mapping) else dict(var_list)
    for name in named.keys() - set(checkpoint.names):
        tf.logging.warning("Variable %s missing in checkpoint %s", name, checkpoint.path)
    return {name: unpack(parts) for name, parts in named.items() if name in checkpoint}


def unpack(variables: Any) -> Any:
    """Unpacks a list of one variable, which a Saver does not accept."""
    return variables[0] if isinstance(variables, list) and len(variables) == 1 else variables
