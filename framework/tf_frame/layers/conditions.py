"""`smart_cond` and `smart_where`: conditions that are Python values or tensors.

For a constant, such as most values of `is_training`, one branch is built, without `tf.cond`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def constant_value(value: Any, dtype: Any = None) -> Any:
    """Returns the constant value of a tensor; None if it depends on the run.

    Args:
      value: a Python value, a tensor or a variable.
      dtype: required type of a tensor or variable.

    Raises:
      ValueError: the value is None, or a tensor has another type.
    """
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not tf.is_tensor(value) and not isinstance(value, tf.Variable):
        return value
    if dtype is not None and value.dtype.base_dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, tf.Variable) else tf.get_static_value(value)


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """Calls one of two functions; builds a `tf.cond` only if the condition is not constant.

    Args:
      pred: bool, or scalar bool tensor.
      fn1: returns the tensors if `pred` is true.
      fn2: returns the tensors if `pred` is false.
      name: name of the `tf.cond`; None: TensorFlow's default.

    Raises:
      TypeError: `fn1` or `fn2` is not callable.
      ValueError: `pred` is None.
    """
    for argument, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{argument} must be callable.")
    value = constant_value(pred)
    if value is None:
        return tf.cond(pred, fn1, fn2, name=name)
    return fn1() if value else fn2()


def smart_where(pred: Any, if_true: Any, if_false: Any) -> Any:
    """Returns one of two tensors of the same shape, or of two numbers, without control flow."""
    value = constant_value(pred)
    if value is None:
        return tf.where_v2(pred, if_true, if_false)
    return if_true if value else if_false
