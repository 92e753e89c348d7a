"""`FeedHook`: feeds tensors of the graph with constants in every step (`--hook feed`).

A model with placeholders that a script would feed, such as `keep_prob`, trains unchanged.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.text import brief
from tf_frame.types import Tensor


class FeedHook(Hook):
    """Feeds the same values in every step.

        FeedHook({"keep_prob:0": 0.5})

    The hook runs in every step, so no step takes the fast path. For changing values, use
    `tf.compat.v1.train.FeedFnHook`.

    Args:
      values: tensor name -> value, or a text that is parsed as the tensor's type.

    Raises:
      ConfigError: from `begin`: there is no such tensor, or it cannot be fed this value.
    """

    phase = Phase.TRANSFORM
    option = "--hook feed"

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        super().__init__(Cadence(every_steps=1))

    def begin(self) -> None:
        graph = tf.get_default_graph()
        self._feeds = dict(_feed(graph, name, value) for name, value in self._values.items())

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(None, self._feeds)


def _feed(graph: Any, name: str, value: Any) -> tuple[Tensor, Any]:
    tensor = tensor_by_name(graph, name)
    if tensor.dtype == tf.resource or not graph.is_feedable(tensor):
        raise ConfigError(
            f"tensor {brief(name)} is of type {tensor.dtype.name} and cannot be fed; feed a "
            "placeholder or the output of an operation"
        )
    return tensor, feed_value(tensor, value)


def tensor_by_name(graph: Any, name: str) -> Tensor:
    """Finds a tensor by its name (`loss:0`), or by an operation for its first output (`loss`).

    Raises:
      ConfigError: there is no such tensor; the message has similar names.
    """
    try:
        return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    except (KeyError, ValueError):
        names = [operation.name for operation in graph.get_operations() if operation.outputs]
    near = difflib.get_close_matches(name.partition(":")[0], names)
    hint = f"did you mean {' or '.join(near)}?" if near else "see TensorBoard's graph for the names"
    raise ConfigError(f"no tensor of the graph is called {brief(name)}; {hint}")


def value_by_name(graph: Any, name: str) -> Tensor:
    """Finds the value of a global variable by name, or a tensor as `tensor_by_name`."""
    for variable in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        if variable.op.name == name.removesuffix(":0"):
            return variable.read_value()
    return tensor_by_name(graph, name)


def feed_value(tensor: Tensor, value: Any) -> Any:
    """Converts a value to an array that a tensor can be fed.

    Args:
      value: a number or array, or a text such as `0.5`, `true` or `[1, 2]`.

    Raises:
      ConfigError: type or shape do not fit the tensor.
    """
    dtype = tensor.dtype.base_dtype
    try:
        if dtype == tf.string:
            array = np.asarray(value).astype(object)
        else:
            array = np.asarray(json.loads(value) if isinstance(value, str) else value)
            kinds = "b" if dtype.is_bool else "iuf" if dtype.is_floating else "iu"
            if array.dtype.kind not in kinds:
                raise ValueError(f"it is {array.dtype}")
            array = array.astype(dtype.as_numpy_dtype)
    except ValueError as error:
        raise ConfigError(
            f"tensor {brief(tensor.name)} of type {dtype.name} cannot be fed {brief(value)}: "
            f"{error}"
        ) from None
    if not tensor.shape.is_compatible_with(array.shape):
        raise ConfigError(
            f"tensor {brief(tensor.name)} of shape {tensor.shape} cannot be fed {brief(value)}, "
            f"which has shape {array.shape}"
        )
    return array
