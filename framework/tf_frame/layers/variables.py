"""Creation of variables: `get_variable` with a device and collections as arguments.

`model_variable` also adds a variable to `tf.GraphKeys.MODEL_VARIABLES`, for moving averages and
scripts that fine-tune: the variable belongs to the model, not to the optimizer or the input.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope

_VARIABLE_OPS = ("VarHandleOp", "VariableV2", "Variable", "AutoReloadVariable")


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """Gets or creates a variable of the current variable scope.

    The penalty is added to `REGULARIZATION_LOSSES` only when the variable is created,
    hence once for all clones that share the variable.

    Args:
      name: name within the current variable scope.
      shape: shape, fully known.
      dtype: type; None: float32.
      initializer: initializer, as `get_variable` takes it.
      regularizer: maps the variable to a scalar penalty; None: no penalty.
      trainable: whether the variable is trained.
      collections: names of collections; None: only `GLOBAL_VARIABLES`.
      caching_device: device, or function of an op, where read values are cached.
      device: device of the variable, or a function that maps the variable's op to a
        device and is called once per variable.
      partitioner: maps shape and type to the number of parts along each axis.
      custom_getter: replaces `get_variable`; called with its arguments.
      use_resource: whether to create a resource variable; None: TensorFlow's default.
      synchronization: a `tf.VariableSynchronization`, for a distribution strategy.
      aggregation: a `tf.VariableAggregation`, for a distribution strategy.

    Returns:
      The variable; a `PartitionedVariable` if the partitioner divides it.
    """
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    getter = tf.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=tf.get_variable_scope().reuse)
    with tf.device(_for_variables(device) if callable(device) else device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(collections),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """Gets or creates a variable of a model, as `variable` does.

    The variable is added to `GLOBAL_VARIABLES`, `MODEL_VARIABLES` and `collections`.

    Args:
      name: name within the current variable scope.
      shape: shape, fully known.
      dtype: type.
      initializer: initializer, as `get_variable` takes it.
      regularizer: maps the variable to a scalar penalty; None: no penalty.
      trainable: whether the variable is trained.
      collections: names of further collections; None: none.
      caching_device: device, or function of an op, where read values are cached.
      device: device of the variable, or a function that maps the variable's op to a device and is
        called once per variable.
      partitioner: maps shape and type to the number of parts along each axis.
      custom_getter: replaces `get_variable`; called with its arguments.
      use_resource: whether to create a resource variable; None: TensorFlow's default.
      synchronization: a `tf.VariableSynchronization`, for a distribution strategy.
      aggregation: a `tf.VariableAggregation`, for a distribution strategy.
    """
    arguments = locals()
    arguments["collections"] = [
        *(collections or []),
        tf.GraphKeys.GLOBAL_VARIABLES,
        tf.GraphKeys.MODEL_VARIABLES,
    ]
    return variable(**arguments)


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Creates an untrained variable in `LOCAL_VARIABLES`, which is not saved.

    Args:
      initial_value: a value, a tensor, or a function without arguments.
      validate_shape: whether the shape of the initial value must be known.
      name: name of the variable, made unique; None: "Variable".
      use_resource: whether to create a resource variable; None: TensorFlow's default.
    """
    return tf.Variable(**locals(), trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Creates an untrained variable in `GLOBAL_VARIABLES`, which is saved.

    Args:
      initial_value: a value, a tensor, or a function without arguments.
      validate_shape: whether the shape of the initial value must be known.
      name: name of the variable, made unique; None: "Variable".
      use_resource: whether to create a resource variable; None: TensorFlow's default.
    """
    return tf.Variable(**locals(), trainable=False, collections=[tf.GraphKeys.GLOBAL_VARIABLES])


def add_model_variable(var: Any) -> None:
    """Adds a variable to `MODEL_VARIABLES`, unless the collection has it."""
    add_to_collection_once(tf.GraphKeys.MODEL_VARIABLES, var)


def add_to_collection_once(collection: str, var: Any) -> None:
    """Adds a variable, or its parts, to a collection, unless the collection has it."""
    parts = list(var) if hasattr(var, "as_tensor") else [var]
    for part in parts:
        # By identity: `==` of variables may be an op.
        if not any(part is member for member in tf.get_collection(collection)):
            tf.add_to_collection(collection, part)


def _for_variables(device: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Calls a device function for variables only, because functions may count their calls."""
    chosen = ""

    def place(op: Any) -> Any:
        nonlocal chosen
        if op.type in _VARIABLE_OPS:
            chosen = device(op)
        return chosen

    return place
