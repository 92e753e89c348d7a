"""Gives operations that exist another input; the one file here with private API.

`tf.Graph` has no public way to do it since tf.contrib.graph_editor is gone.
`Operation._update_input` is what TensorFlow's own while loops use. It must not
be used once a session has run the graph, for a session does not see the change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def set_input(op: Any, index: int, tensor: Any) -> None:
    """Makes `tensor` the input number `index` of an operation."""
    op._update_input(index, tensor)


def redirect(consumers: Iterable[Any], old: Any, new: Any) -> None:
    """Makes operations read one tensor in the place of another.

    Args:
      consumers: the operations.
      old: the tensor that they read.
      new: what they shall read; of the same type and shape.
    """
    for op in consumers:
        for index, tensor in enumerate(op.inputs):
            if tensor.name == old.name:
                set_input(op, index, new)
