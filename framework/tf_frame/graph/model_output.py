"""Calls a model's `build` and checks the result, so that an error names the plugin at fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.text import short_repr


def build_model(model: Any, features: Any, labels: Any, mode: Mode) -> ModelOutput:
    """Builds one clone of a model.

    Args:
      model: the model plugin.
      features, labels: the two parts of a batch.
      mode: purpose of the graph.

    Returns:
      The output, whose loss is a tensor or None.

    Raises:
      PluginError: the output breaks the contract of models.
    """
    output = model.build(features, labels, mode)
    origin = f"{type(model).__name__}.build()"
    if not isinstance(output, ModelOutput):
        raise PluginError(f"{origin} returned {short_repr(output)}; it must return a ModelOutput")
    _check_metrics(output.metrics, origin)
    loss = None if output.loss is None else scalar_loss(output.loss, origin)
    return dataclasses.replace(output, loss=loss)


def scalar_loss(loss: Any, origin: str) -> Any:
    """Converts a loss to a scalar tensor.

    Args:
      loss: a tensor or a number.
      origin: origin of the loss, for the message.

    Raises:
      PluginError: the loss is no floating-point scalar.
    """
    try:
        number = isinstance(loss, (int, float))
        tensor = tf.convert_to_tensor(loss, tf.float32 if number else None)
    except (TypeError, ValueError):
        raise PluginError(
            f"the loss of {origin} is {short_repr(loss)}; it must be a scalar"
        ) from None
    if tensor.shape.rank or not tensor.dtype.is_floating:
        raise PluginError(
            f"the loss of {origin} has shape {tensor.shape} and type {tensor.dtype.name}; it must "
            "be a floating-point scalar, which tf.reduce_mean makes of one loss per example"
        )
    return tensor


def _check_metrics(metrics: Any, origin: str) -> None:
    if not isinstance(metrics, Mapping):
        raise PluginError(
            f"the metrics of {origin} are {short_repr(metrics)}; they must be a mapping"
        )
    for name, pair in metrics.items():
        if not _is_metric(pair):
            raise PluginError(
                f"the metric {name!r} of {origin} is {short_repr(pair)}; it must be a pair of "
                "value tensor and update op, as the functions of tf.compat.v1.metrics return"
            )


def _is_metric(pair: Any) -> bool:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
        return False
    value, update = pair
    return tf.is_tensor(value) and (tf.is_tensor(update) or isinstance(update, tf.Operation))
