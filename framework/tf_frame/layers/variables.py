"""Variables by name: `get_variable` with a device and collections of its own."""

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

    The penalty goes to `REGULARIZATION_LOSSES` only when the variable is
    created: several clones that share it pay once.

    Args:
      name: name within the current variable scope.
      shape: its shape, fully known.
      dtype: its type; float32 when None.
      initializer: as `get_variable` takes it.
      regularizer: maps the variable to a scalar penalty, or None.
      trainable: whether the optimizer may change it.
      collections: names of collections; only `GLOBAL_VARIABLES` when None.
      caching_device: device, or function of an op, where reading caches the value.
      device: where it is placed: a device, or a function that gets the variable's
        op and gives the device; it is asked once for each variable.
      partitioner: maps shape and type to the number of parts along each axis.
      custom_getter: called in the place of `get_variable`, with its arguments.
      use_resource: whether to make a resource variable; TensorFlow's default when None.
      synchronization: a `tf.VariableSynchronization`.
      aggregation: a `tf.VariableAggregation`.

    Returns:
      The variable; a `PartitionedVariable` where a partitioner made several parts.
    """
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    with tf.device(_asked_once(device) if callable(device) else device or ""):
        return _getter(custom_getter)(
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
    """Gets or creates a variable that belongs to a model; see `variable`.

    It is listed in `GLOBAL_VARIABLES` and `MODEL_VARIABLES`, and in
    `collections` besides.
    """
    own = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or []), *own],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Creates an untrained variable that checkpoints leave out (`LOCAL_VARIABLES`).

    Args:
      initial_value: a value, tensor, or function without arguments.
      validate_shape: whether the shape of the initial value must be known.
      name: its name; made unique.
      use_resource: whether to make a resource variable; TensorFlow's default when None.
    """
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Creates an untrained variable of `GLOBAL_VARIABLES`; see `local_variable`."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def add_model_variable(var: Any) -> None:
    """Lists a variable in `MODEL_VARIABLES`, unless it is there."""
    add_to_collection_once(tf.GraphKeys.MODEL_VARIABLES, var)


def add_to_collection_once(collection: str, var: Any) -> None:
    """Adds a variable, or its parts, to a collection that does not hold it yet."""
    parts = list(var) if hasattr(var, "as_tensor") else [var]
    for part in parts:
        # By identity: `==` of variables may be an op.
        if not any(part is known for known in tf.get_collection(collection)):
            tf.add_to_collection(collection, part)


def _getter(custom_getter: Callable[..., Any] | None) -> Any:
    if custom_getter is None:
        return tf.get_variable
    return functools.partial(custom_getter, reuse=tf.get_variable_scope().reuse)


def _asked_once(device: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Asks a device function for variables only: others that count would miscount."""
    answer = ""

    def place(op: Any) -> Any:
        nonlocal answer
        if op.type in _VARIABLE_OPS:
            answer = device(op)
        return answer

    return place
