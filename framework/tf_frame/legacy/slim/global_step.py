"""The step counter of a graph, under the names of tf_slim, ops/variables.py.

They are those of `tf.train`, of which the old names were aliases. `global_step` is that of
the Inception trainer (tensorflow/models, research/inception/inception/slim/variables.py).
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope

__all__ = [
    "assert_global_step",
    "assert_or_get_global_step",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
]


def assert_global_step(global_step_tensor: Any) -> None:
    """Checks that this is a scalar of whole numbers.

    Raises:
      TypeError: it is not.
    """
    tf.train.assert_global_step(global_step_tensor)


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """Checks a global step that is given; else finds that of the graph, or None.

    Args:
      graph: where to look; None means the default graph.
      global_step_tensor: the one to check.

    Raises:
      TypeError: it is no scalar of whole numbers.
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def get_global_step(graph: Any = None) -> Any:
    """The global step of a graph (None: the default one), or None if it has none."""
    return tf.train.get_global_step(graph)


def create_global_step(graph: Any = None) -> Any:
    """Makes the global step of a graph (None: the default one).

    Raises:
      ValueError: it has one.
    """
    return tf.train.create_global_step(graph)


def get_or_create_global_step(graph: Any = None) -> Any:
    """The global step of a graph (None: the default one); it is made if there is none."""
    return tf.train.get_or_create_global_step(graph)


@add_arg_scope
def global_step(device: Any = "") -> Any:
    """The global step of the default graph; it is made if there is none.

    Args:
      device: where it is made, also by arg_scope: a name, or a function such as
        a `VariableDeviceChooser`.
    """
    with tf.device(device):
        return tf.train.get_or_create_global_step()
