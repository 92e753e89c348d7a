"""Sizes and layers, as the functions of tf.contrib.seq2seq ask for them."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def dimension(tensor: Any, axis: int) -> Any:
    """Returns the size of an axis: an integer, or a scalar tensor if it is unknown."""
    size = None if tensor.shape.rank is None else tensor.shape.as_list()[axis]
    return tf.shape(tensor)[axis] if size is None else size


def is_layer(value: Any) -> bool:
    """Returns whether a value is a layer: one of tf.layers, of an RNN cell's kind, or of Keras."""
    return callable(value) and hasattr(value, "compute_output_shape")


def output_size_after(output_layer: Any, size: Any) -> Any:
    """Returns the sizes of a cell's outputs after a layer.

    Args:
      output_layer: the layer; None: the sizes stay as they are.
      size: sizes without the batch, in the structure of the outputs.
    """
    if output_layer is None:
        return size
    shapes = tf.nest.map_structure(lambda s: tf.TensorShape([None]).concatenate(s), size)
    shapes = output_layer.compute_output_shape(shapes)
    if isinstance(shapes, tuple) and all(s is None or isinstance(s, int) for s in shapes):
        shapes = tf.TensorShape(shapes)
    return tf.nest.map_structure(lambda s: s[1:], shapes)
