"""Summaries of tensors and of lists of tensors, as in tf_slim, summaries.py.

    slim.summaries.add_histogram_summaries(slim.get_model_variables())
    slim.summaries.add_scalar_summary(total_loss, "Total Loss", print_summary=True)

Evaluations also print their metrics with `print_summary`. The tag is `name`, by default the name of
the tensor's op. The functions return the summaries, scalar string tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """Adds a histogram of a tensor or variable.

    Args:
      tensor: tensor of any shape.
      name: the tag; None: the op name.
      prefix: text before the tag, separated by a slash.
    """
    return tf.summary.histogram(_tag(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Adds images.

    Args:
      tensor: `[batch, height, width, channels]`.
      name, prefix: see `add_histogram_summary`.
      print_summary: whether to print the values to stderr with each summary.
    """
    tag = _tag(tensor, name, prefix)
    if not print_summary:
        return tf.summary.image(tag, tensor)
    return _printed(tf.summary.image(tag, tensor, collections=[]), tensor, tag)


def add_scalar_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Adds a scalar summary.

    Args:
      tensor: scalar tensor or variable.
      name, prefix: see `add_histogram_summary`.
      print_summary: whether to print the value to stderr with each summary.
    """
    tag = _tag(tensor, name, prefix)
    if not print_summary:
        return tf.summary.scalar(tag, tensor)
    return _printed(tf.summary.scalar(tag, tensor, collections=[]), tensor, tag)


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Adds the share of zeros in a tensor, under `TAG/Fraction_of_Zero_Values`.

    Args:
      tensor: tensor of any shape.
      name, prefix, print_summary: see `add_scalar_summary`.
    """
    tag = f"{_tag(tensor, name, prefix)}/Fraction_of_Zero_Values"
    return add_scalar_summary(tf.nn.zero_fraction(tensor), tag, print_summary=print_summary)


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """Adds a histogram for each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """Adds images for each tensor `[batch, height, width, channels]`."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """Adds a scalar summary for each scalar tensor."""
    return [add_scalar_summary(t, prefix=prefix, print_summary=print_summary) for t in tensors]


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """Adds the share of zeros for each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]


def _tag(tensor: Any, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def _printed(summary: Any, tensor: Any, tag: str) -> Any:
    """Returns a summary that prints, and adds it to the collection, so that merging prints."""
    summary = tf.Print(summary, [tensor], tag)
    tf.add_to_collection(tf.GraphKeys.SUMMARIES, summary)
    return summary
