"""TensorFlow's operations of optimizers, on reference and on resource variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf


def apply_step(
    op: str, var: Any, slots: Mapping[str, Any], scalars: Mapping[str, Any], grad: Any, **attrs: Any
) -> Any:
    """Creates the operation of an optimizer's step on a dense gradient.

    Args:
      op: type of the operation for reference variables, such as `ApplyAdam`.
      var: the variable.
      slots: argument -> slot variable.
      scalars: argument -> scalar, which is cast to the variable's type.
      grad: gradient, of the variable's shape.
      **attrs: other arguments of the operation.
    """
    resource = hasattr(var, "handle")
    create = getattr(tf.raw_ops, f"Resource{op}" if resource else op)
    handles = {"var": var, **slots}
    if resource:
        handles = {name: variable.handle for name, variable in handles.items()}
    values = {name: tf.cast(value, var.dtype.base_dtype) for name, value in scalars.items()}
    step = create(**handles, **values, grad=grad, **attrs)
    return step if resource else step.op


def scatter(kind: str, var: Any, indices: Any, values: Any) -> Any:
    """Creates the operation that adds to, subtracts from or updates rows of a variable.

    Args:
      kind: `add`, `sub` or `update`.
      var: the variable.
      indices: row numbers.
      values: the rows.
    """
    change = getattr(var, f"scatter_{kind}")
    return tf.group(change(tf.IndexedSlices(values, indices)))
