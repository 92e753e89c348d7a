"""Calls a model's `build` and checks the result, so that an error names the plugin at fault."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
import weakref
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.plugin.fault import note_hint
from tf_frame.plugin.origin import describe_method, find_owner
from tf_frame.text import brief, short_repr

# Figures of every training and evaluation; see `tf_frame.graph.losses`.
LOSS, TOTAL_LOSS = "loss", "total_loss"

# Parts of errors of Python and TensorFlow about None instead of a tensor.
_NONE_ERROR = re.compile("NoneType|None values not supported")
_OTHER_GRAPH_ERROR = re.compile("must be from the same graph|is not an element of this graph")

# There is no public function that reads or sets the numbers of Keras' names:
# `keras.utils.clear_session` also drops all other state of Keras in the process.
_KERAS_STATE, _KERAS_NUMBERS = "keras.src.backend.common.global_state", "object_name_uids"
_NUMBERS_OF_GRAPHS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def build_model(model: Any, features: Any, labels: Any, mode: Mode) -> ModelOutput:
    """Builds one clone of a model plugin; the loss of the output is a tensor or None.

    Raises:
      PluginError: the output breaks the contract of models.
    """
    output = _call_build(model, features, labels, mode)
    origin = describe_method(model, "build")
    if not isinstance(output, ModelOutput):
        raise PluginError(f"{origin} returned {short_repr(output)}; it must return a ModelOutput")
    check_metrics(output.metrics, origin, reserved=(LOSS, TOTAL_LOSS) if find_owner(model) else ())
    _check_predictions(output.predictions, origin)
    _check_session(output, origin)
    _check_loss_terms(output.loss_terms, origin)
    loss = None if output.loss is None else scalar_loss(output.loss, origin)
    is_number = loss is not None and not tf.is_tensor(output.loss)
    if mode == Mode.TRAIN and is_number and output.train_op is None:
        raise PluginError(
            f"{origin} returned the number {output.loss} as loss; make it a tensor that depends "
            "on the variables, or nothing can be trained"
        )
    return dataclasses.replace(output, loss=loss)


def _call_build(model: Any, features: Any, labels: Any, mode: Mode) -> Any:
    try:
        with keras_names_per_graph():
            return model.build(features, labels, mode)
    except Exception as error:
        if mode == Mode.PREDICT and labels is None and _NONE_ERROR.search(str(error)):
            note_hint(error, "in Mode.PREDICT labels are None, and build() must not use them")
        elif _OTHER_GRAPH_ERROR.search(str(error)):
            note_hint(
                error,
                "training, evaluation and prediction have a graph each: make tensors, variables "
                "and Keras layers in build(), and keep none of them for the next call",
            )
        elif isinstance(error, (ValueError, TypeError, LookupError)):
            batch = f"features {_shapes(features)} and labels {_shapes(labels)}"
            note_hint(error, f"build() was given {batch}{_batch_advice(features, labels)}")
        raise


@contextlib.contextmanager
def keras_names_per_graph() -> Iterator[None]:
    """Inside the block, Keras 3 numbers layers without names per graph, as Keras 2 does.

    Keras numbers layers per process: the second graph of a process would have `dense_1/kernel`
    instead of `dense/kernel`, and would not fit the checkpoint of the first. A further block for
    the same graph goes on with the next number; outside of the blocks, Keras goes on as if there
    were none. Keras is not imported.
    """
    graph, outside = tf.get_default_graph(), _keras_numbers()
    _set_keras_numbers(_NUMBERS_OF_GRAPHS.get(graph))
    try:
        yield
    finally:
        _NUMBERS_OF_GRAPHS[graph] = _keras_numbers()
        _set_keras_numbers(outside)


def _keras_numbers() -> Any:
    state = sys.modules.get(_KERAS_STATE)
    return state.get_global_attribute(_KERAS_NUMBERS) if state else None


def _set_keras_numbers(numbers: Any) -> None:
    state = sys.modules.get(_KERAS_STATE)
    if state:
        state.set_global_attribute(_KERAS_NUMBERS, numbers)  # None: Keras begins to count.


def _shapes(batch: Any) -> str:
    """Type and shape of each part of a batch, in the structure of the batch."""
    if isinstance(batch, Mapping):
        return (
            "{" + ", ".join(f"{brief(name)}: {_shapes(part)}" for name, part in batch.items()) + "}"
        )
    if isinstance(batch, (list, tuple)):
        return "[" + ", ".join(map(_shapes, batch)) + "]"
    return f"{batch.dtype.name} {batch.shape}" if hasattr(batch, "shape") else repr(batch)


def _batch_advice(features: Any, labels: Any) -> str:
    """Returns advice for features and labels that cannot be used; else an empty text."""
    shapes = [x.shape for x in tf.nest.flatten((features, labels)) if tf.is_tensor(x)]
    if any(shape.rank is None for shape in shapes):
        return (
            ", where <unknown> has no known rank: a Python function loses the shape; give its "
            "result to tf.ensure_shape(result, [height, width, 3]) in dataset()"
        )
    sizes = {shape[0] if shape.rank else 0 for shape in shapes if shape.rank is not None}
    if 0 not in sizes and len(sizes - {None}) < 2:
        return ""
    return (
        ", which have no first dimension in common; if they are one example, dataset() of the "
        "input must end with .batch(context.batch_size)"
    )


def output_origin(output: Any) -> str:
    """Returns the name of the `build` that made an output, as far as it is known."""
    return describe_method(output, "build") if find_owner(output) else "the model"


def scalar_loss(loss: Any, origin: str) -> Any:
    """Converts a loss, a tensor or a number, to a scalar tensor.

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


def _check_loss_terms(terms: Any, origin: str) -> None:
    for term in terms:
        pair = term if isinstance(term, (tuple, list)) else ()
        if len(pair) != 2 or any(not tf.is_tensor(part) or part.shape.rank for part in pair):
            raise PluginError(
                f"the loss_terms of {origin} are {short_repr(terms)}; each must be a pair (sum, "
                "count) of scalar tensors"
            )


def check_metrics(metrics: Any, origin: str, *, reserved: Collection[str] = ()) -> None:
    """Checks the metrics of a model's output; none can have a `reserved` name.

    Raises:
      PluginError: the metrics are no mapping of name to value tensor and update op.
    """
    if not isinstance(metrics, Mapping):
        raise PluginError(
            f"the metrics of {origin} are {short_repr(metrics)}; they must be a mapping"
        )
    for name, pair in metrics.items():
        if not isinstance(name, str):
            raise PluginError(f"the metrics of {origin} have the key {brief(name)}; names are text")
        if name in reserved:
            raise PluginError(
                f"the metric {brief(name)} of {origin} has the name of a figure of every "
                "evaluation; give it another one"
            )
        if not _is_metric(pair):
            raise PluginError(
                f"the metric {brief(name)} of {origin} is {short_repr(pair)}; it must be a pair of "
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
            noun = f"the prediction {brief(name)}" if name else "predictions"
            raise PluginError(
                f"{noun} of {origin}: found {short_repr(value)}; predictions must be a mapping of "
                "name to tensor, or one tensor"
            )


def _check_session(output: ModelOutput, origin: str) -> None:
    """Checks the parts of an output that make a session."""
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
