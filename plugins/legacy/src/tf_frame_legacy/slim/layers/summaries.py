"""Summaries of activations, variables and collections, as in tf_slim, layers/summaries.py.

They show in TensorBoard, for instance, how many inputs a ReLU clips; the tags are slim's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
]

_WITH_ZEROS = ("Relu", "Softplus", "Relu6")


def summarize_activation(op: Any) -> Any:
    """Adds a histogram `OP/activation`, and the shares of clipped inputs.

    Args:
      op: output of a layer. The scalar `OP/zeros` is the share of inputs below 0 of
        Relu, Relu6 and Softplus; `OP/sixes` the share of inputs above 6 of Relu6.

    Returns:
      The histogram, a scalar string tensor.
    """
    name, kind = op.op.name, op.op.type
    if kind in _WITH_ZEROS:
        _add_share(f"{name}/zeros", op.op.inputs[0] < 0)
    if kind == "Relu6":
        _add_share(f"{name}/sixes", op.op.inputs[0] > 6)
    return tf.summary.histogram(f"{name}/activation", op)


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """Adds a scalar summary of a scalar, a histogram of other shapes.

    Args:
      tensor: a tensor or variable.
      tag: the tag; None: `OP_summary`.

    Returns:
      The summary, a scalar string tensor; None for strings and booleans.
    """
    if tensor.dtype.base_dtype in (tf.string, tf.bool):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    write = tf.summary.scalar if tensor.shape.ndims == 0 else tf.summary.histogram
    return write(tag, tensor)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Adds a summary of each tensor; returns the results of `summarizer`."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """Adds a summary of each tensor of a collection.

    Args:
      collection: the key of the collection.
      name_filter: regular expression that must match from the start of op names.
      summarizer: adds the summary of a tensor.

    Returns:
      The results of `summarizer`.
    """
    tensors = tf.get_collection(collection)
    chosen = [t for t in tensors if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(chosen, summarizer)


summarize_variables = functools.partial(summarize_collection, tf.GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, tf.GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, tf.GraphKeys.BIASES)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """Adds summaries of the tensors in `tf.GraphKeys.ACTIVATIONS`; see `summarize_collection`."""
    return summarize_collection(tf.GraphKeys.ACTIVATIONS, name_filter, summarizer)


def _add_share(tag: str, chosen: Any) -> None:
    tf.summary.scalar(tag, tf.reduce_mean(tf.cast(chosen, tf.float32)))
