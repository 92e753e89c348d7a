"""Names of TensorFlow itself that went without a successor of the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import resource_variable_ops


def batch_matmul(
    x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Any:
    """Returns the products of the matrices `[..., n, m]` and `[..., m, k]` (TensorFlow 0.12).

    Args:
      x, y: the matrices.
      adj_x, adj_y: whether the matrices are transposed and conjugated first.
      name: op name.
    """
    return tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


class RegisterShape:
    """A decorator of shape functions, without effect: operations have theirs in C++."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
        return function


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> dict[str, Any]:
    """Returns the shapes of an operation's outputs as the shape functions of then did."""
    return {"shapes": [output.shape for output in op.outputs]}


def scalar() -> Any:
    """Returns the shape of a scalar."""
    return tf.TensorShape([])


def vector(length: int | None) -> Any:
    """Returns the shape `[length]`."""
    return tf.TensorShape([length])


def matrix(rows: int | None, cols: int | None) -> Any:
    """Returns the shape `[rows, cols]`."""
    return tf.TensorShape([rows, cols])


def variable_from_proto(v: Any, import_scope: str | None = None) -> Any:
    """Returns the variable of a `VariableDef`."""
    kind = resource_variable_ops.ResourceVariable if v.is_resource else tf.Variable
    return kind.from_proto(v, import_scope=import_scope)
