"""What a model's `build` returns, checked before a graph is made of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.graph.messages import seen
from tf_frame.plugin import Mode, ModelOutput


def build_model(model: Any, features: Any, labels: Any, mode: Mode) -> ModelOutput:
    """Builds one clone of a model.

    Args:
      model: the model plugin.
      features: what the input's data set yields first.
      labels: what it yields second.
      mode: what the graph is for.

    Returns:
      What the model returned, its loss a tensor or None.

    Raises:
      PluginError: the model returned something that its contract does not allow.
    """
    output = model.build(features, labels, mode)
    origin = f"{type(model).__name__}.build()"
    if not isinstance(output, ModelOutput):
        raise PluginError(f"{origin} returned {seen(output)}; it must return a ModelOutput")
    _check_metrics(output.metrics, origin)
    loss = None if output.loss is None else scalar_loss(output.loss, origin)
    return dataclasses.replace(output, loss=loss)


def scalar_loss(loss: Any, origin: str) -> Any:
    """Makes a loss a scalar tensor.

    Args:
      loss: a tensor or a number.
      origin: where it comes from, for the message.

    Raises:
      PluginError: it is no floating-point scalar.
    """
    try:
        number = isinstance(loss, (int, float))
        tensor = tf.convert_to_tensor(loss, tf.float32 if number else None)
    except (TypeError, ValueError):
        raise PluginError(f"the loss of {origin} is {seen(loss)}; it must be a scalar") from None
    if tensor.shape.rank or not tensor.dtype.is_floating:
        raise PluginError(
            f"the loss of {origin} has shape {tensor.shape} and type {tensor.dtype.name}; it must "
            "be a floating-point scalar, which tf.reduce_mean makes of one loss per example"
        )
    return tensor


def _check_metrics(metrics: Any, origin: str) -> None:
    if not isinstance(metrics, Mapping):
        raise PluginError(f"the metrics of {origin} are {seen(metrics)}; they must be a mapping")
    for name, pair in metrics.items():
        if not _is_metric(pair):
            raise PluginError(
                f"the metric {name!r} of {origin} is {seen(pair)}; it must be a pair of value "
                "tensor and update op, as the functions of tf.compat.v1.metrics return"
            )


def _is_metric(pair: Any) -> bool:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
        return False
    value, update = pair
    return tf.is_tensor(value) and (tf.is_tensor(update) or isinstance(update, tf.Operation))
