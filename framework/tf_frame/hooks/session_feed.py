"""Feeds tensors of the graph in every step."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence


class SessionFeedHook(Hook):
    """Feeds the same values in every step, or what a function returns.

        SessionFeedHook({"keep_prob:0": 0.5})
        SessionFeedHook(feed_fn=lambda: {placeholder: next(numbers)})

    It is called in every step, so no step takes the fast path.

    Args:
      values: tensor name -> value; a text is read as the tensor's type asks.
      feed_fn: called before each step; returns a feed dict.

    Raises:
      ValueError: both or neither are given.
      ConfigError: from `begin`: there is no such tensor, it cannot be fed, or
        not with this value.
    """

    phase = Phase.TRANSFORM

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        feed_fn: Callable[[], Mapping[Any, Any]] | None = None,
    ) -> None:
        if (values is None) == (feed_fn is None):
            raise ValueError("give either values or feed_fn")
        self._values = values
        self._feed_fn = feed_fn
        super().__init__(Cadence(every_steps=1))

    def begin(self) -> None:
        graph, feeds = tf.get_default_graph(), {}
        for name, value in (self._values or {}).items():
            tensor = tensor_called(graph, name)
            if tensor.dtype == tf.resource or not graph.is_feedable(tensor):
                raise ConfigError(
                    f"tensor {name!r} is of type {tensor.dtype.name} and cannot be fed; feed a "
                    "placeholder or the output of an operation"
                )
            feeds[tensor] = value_for(tensor, value)
        self._feeds = feeds

    def before_step(self, run_context: Any, step: int) -> Any:
        feeds = self._feeds if self._feed_fn is None else self._feed_fn()
        return tf.train.SessionRunArgs(None, feeds)


def tensor_called(graph: Any, name: str) -> Any:
    """Finds the tensor that a user's word means.

    Args:
      graph: the `tf.Graph`.
      name: of a tensor (`loss:0`), or of an operation, for its first output (`loss`).

    Raises:
      ConfigError: there is none; the message names those that come near.
    """
    try:
        return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    except (KeyError, ValueError):
        known = [operation.name for operation in graph.get_operations() if operation.outputs]
    near = difflib.get_close_matches(name.partition(":")[0], known)
    hint = f"did you mean {' or '.join(near)}?" if near else "see TensorBoard's graph for the names"
    raise ConfigError(f"no tensor of the graph is called {name!r}; {hint}")


def value_called(graph: Any, name: str) -> Any:
    """The tensor that a user's word means; that of a global variable stands for its value.

    Args:
      graph: the `tf.Graph`.
      name: as for `tensor_called`.

    Raises:
      ConfigError: there is none.
    """
    for variable in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        if variable.op.name == name.removesuffix(":0"):
            return variable.read_value()
    return tensor_called(graph, name)


def value_for(tensor: Any, value: Any) -> Any:
    """Makes an array of a value that is to be fed.

    Args:
      tensor: what is fed.
      value: a number or array, or a text such as `0.5`, `true` or `[1, 2]`.

    Raises:
      ConfigError: the tensor cannot have this value.
    """
    dtype = tensor.dtype.base_dtype
    try:
        read = json.loads(value) if isinstance(value, str) and dtype != tf.string else value
        array = np.asarray(read)
        if dtype != tf.string:
            kinds = "b" if dtype.is_bool else "iuf" if dtype.is_floating else "iu"
            if array.dtype.kind not in kinds:
                raise ValueError(f"it is {array.dtype}")
            array = array.astype(dtype.as_numpy_dtype)
        else:
            array = array.astype(object)
    except ValueError as error:
        raise ConfigError(
            f"tensor {tensor.name!r} of type {dtype.name} cannot be fed {value!r}: {error}"
        ) from None
    if not tensor.shape.is_compatible_with(array.shape):
        raise ConfigError(
            f"tensor {tensor.name!r} of shape {tensor.shape} cannot be fed {value!r}, which has "
            f"shape {array.shape}"
        )
    return array
