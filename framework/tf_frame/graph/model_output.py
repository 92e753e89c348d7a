"""Calls a model's `build` and checks the result, so that an error names the plugin at fault."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.graph.keras_names import keras_names_of_graph
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.plugin.fault import note_hint
from tf_frame.plugin.origin import describe_method, find_owner
from tf_frame.text import short_repr

# Figures of every training and evaluation; see `tf_frame.graph.losses`.
LOSS, TOTAL_LOSS = "loss", "total_loss"

# Parts of errors of Python and TensorFlow about a None in place of a tensor.
_OF_NONE = re.compile("NoneType|None values not supported")
_OF_ANOTHER_GRAPH = re.compile("must be from the same graph|is not an element of this graph")


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
    output = _built(model, features, labels, mode)
    origin = describe_method(model, "build")
    if not isinstance(output, ModelOutput):
        raise PluginError(f"{origin} returned {short_repr(output)}; it must return a ModelOutput")
    check_metrics(output.metrics, origin, reserved=(LOSS, TOTAL_LOSS) if find_owner(model) else ())
    _check_predictions(output.predictions, origin)
    _check_session(output, origin)
    loss = None if output.loss is None else scalar_loss(output.loss, origin)
    if mode == Mode.TRAIN and loss is not None and not tf.is_tensor(output.loss):
        _check_trainable(output, origin)
    return dataclasses.replace(output, loss=loss)


def _built(model: Any, features: Any, labels: Any, mode: Mode) -> Any:
    try:
        with keras_names_of_graph():
            return model.build(features, labels, mode)
    except Exception as error:
        if mode == Mode.PREDICT and labels is None and _OF_NONE.search(str(error)):
            note_hint(error, "in Mode.PREDICT labels are None, and build() must not use them")
        elif _OF_ANOTHER_GRAPH.search(str(error)):
            note_hint(
                error,
                "training, evaluation and prediction have a graph each: make tensors, variables "
                "and Keras layers in build(), and keep none of them for the next call",
            )
        elif isinstance(error, (ValueError, TypeError, LookupError)):
            given = f"features {_shapes(features)} and labels {_shapes(labels)}"
            note_hint(error, f"build() was given {given}")
        raise


def _shapes(batch: Any) -> str:
    """Type and shape of each part of a batch, in the structure of the batch."""
    if isinstance(batch, Mapping):
        return "{" + ", ".join(f"{name!r}: {_shapes(part)}" for name, part in batch.items()) + "}"
    if isinstance(batch, (list, tuple)):
        return "[" + ", ".join(map(_shapes, batch)) + "]"
    return f"{batch.dtype.name} {batch.shape}" if hasattr(batch, "shape") else repr(batch)


def _check_trainable(output: ModelOutput, origin: str) -> None:
    """Refuses a number as loss, unless the model has a train op of its own."""
    if output.train_op is None:
        raise PluginError(
            f"{origin} returned the number {output.loss} as loss; make it a tensor that depends "
            "on the variables, or nothing can be trained"
        )


def origin_of_output(output: Any) -> str:
    """Names the `build` that returned an output, as far as that is known."""
    return describe_method(output, "build") if find_owner(output) else "the model"


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


def check_metrics(metrics: Any, origin: str, *, reserved: Collection[str] = ()) -> None:
    """Checks the metrics of a model.

    Args:
      metrics: what its output has as metrics.
      origin: origin of the output, for the message.
      reserved: names that a metric cannot have.

    Raises:
      PluginError: they are no mapping of name to value tensor and update op.
    """
    if not isinstance(metrics, Mapping):
        raise PluginError(
            f"the metrics of {origin} are {short_repr(metrics)}; they must be a mapping"
        )
    for name, pair in metrics.items():
        if not isinstance(name, str):
            raise PluginError(f"the metrics of {origin} have the key {name!r}; names are text")
        if name in reserved:
            raise PluginError(
                f"the metric {name!r} of {origin} has the name of a figure of every evaluation; "
                "give it another one"
            )
        if not _is_metric(pair):
            raise PluginError(
                f"the metric {name!r} of {origin} is {short_repr(pair)}; it must be a pair of "
                "value tensor and update op, as the functions of tf.compat.v1.metrics return"
            )


def _is_metric(pair: Any) -> bool:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
        return False
    values, updates = map(tf.nest.flatten, pair)
    are_tensors = all(tf.is_tensor(value) for value in values)
    return are_tensors and all(tf.is_tensor(u) or isinstance(u, tf.Operation) for u in updates)


def _check_predictions(predictions: Any, origin: str) -> None:
    named = predictions if isinstance(predictions, Mapping) else {"": predictions}
    for name, value in named.items():
        if not tf.is_tensor(value):
            what = f"the prediction {name!r}" if name else "predictions"
            raise PluginError(
                f"{what} of {origin}: found {short_repr(value)}; predictions must be a mapping of "
                "name to tensor, or one tensor"
            )


def _check_session(output: ModelOutput, origin: str) -> None:
    """Checks the parts of an output that a session is made with."""
    for hook in (*output.hooks, *output.chief_hooks):
        if not isinstance(hook, tf.train.SessionRunHook):
            raise PluginError(
                f"the hooks of {origin}: found {short_repr(hook)}; each must be a "
                "tf.train.SessionRunHook"
            )
    train_op, scaffold = output.train_op, output.scaffold
    if train_op is not None and not (tf.is_tensor(train_op) or isinstance(train_op, tf.Operation)):
        raise PluginError(
            f"the train_op of {origin} is {short_repr(train_op)}; it must be an operation, a "
            "tensor or None"
        )
    if scaffold is not None and not isinstance(scaffold, tf.train.Scaffold):
        raise PluginError(
            f"the scaffold of {origin} is {short_repr(scaffold)}; it must be a "
            "tf.compat.v1.train.Scaffold or None"
        )
