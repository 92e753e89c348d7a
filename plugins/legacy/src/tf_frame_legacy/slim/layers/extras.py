"""Layers of tf_slim that current networks do not need.

Same behaviour as tf_slim, layers/layers.py and layers/bucketization_op.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs
from tf_frame.layers.sizes import channels_first


def bucketize(input_tensor: Any, boundaries: Sequence[float], name: str | None = None) -> Any:
    """Returns the bucket of each number: the number of boundaries that are not greater.

    Args:
      input_tensor: numbers of any shape.
      boundaries: boundaries of the buckets, ascending.
      name: name of the operation.

    Returns:
      int32 of the same shape, from 0 to the number of boundaries.
    """
    return tf.raw_ops.Bucketize(input=input_tensor, boundaries=list(boundaries), name=name)


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: int = 0, outputs_collections: Any = None, scope: str | None = None
) -> Any:
    """Converts labels to a `tf.SparseTensor`, for `tf.nn.ctc_loss`.

    Args:
      tensor: labels of any shape.
      eos_token: the value to omit.
      outputs_collections: collections that the output is added to.
      scope: variable scope; None: `dense_to_sparse`, made unique.
    """
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as entered:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        shape = tf.shape(tensor, out_type=tf.int64)
        sparse = tf.SparseTensor(indices, tf.gather_nd(tensor, indices), shape)
        return collect_named_outputs(outputs_collections, entered.name, sparse)


@add_arg_scope
def images_to_sequence(
    inputs: Any,
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Converts each row of an image to a sequence; its steps are the columns.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height, width]`.
      data_format: `NHWC` or `NCHW`.
      outputs_collections: collections that the output is added to.
      scope: name scope; None: `ImagesToSequence`, made unique.

    Returns:
      `[width, batch * height, channels]`.

    Raises:
      ValueError: another data format.
    """
    first = channels_first(data_format)
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as entered:
        inputs = tf.convert_to_tensor(inputs)
        if first:
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
        _, _, width, channels = inputs.shape.as_list()
        columns = tf.transpose(inputs, [2, 0, 1, 3])
        outputs = tf.reshape(columns, [_or_unknown(width), _rows(inputs), channels])
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Converts sequences back to rows of images; the inverse of `images_to_sequence`.

    Args:
      inputs: `[width, batch * height, channels]`.
      height: number of rows of an image.
      output_data_format: `channels_last` or `channels_first`.
      outputs_collections: collections that the output is added to.
      scope: name scope; None: `SequenceToImages`, made unique.

    Returns:
      `[batch, height, width, channels]`, or `[batch, channels, height, width]`.
    """
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as entered:
        inputs = tf.convert_to_tensor(inputs)
        width, sequences, channels = inputs.shape.as_list()
        batch = -1 if sequences is None else sequences // height
        columns = tf.reshape(inputs, [width, batch, height, channels])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, entered, tf.transpose(columns, order))


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """Returns the tensor unchanged, and multiplies its gradient.

    Args:
      inputs: a tensor.
      gradient_multiplier: number or tensor that broadcasts to the shape of `inputs`.
    """

    def scaled(values: Any) -> Any:
        return tf.identity(values), lambda gradient: gradient * gradient_multiplier

    return tf.custom_gradient(scaled)(inputs)


def _rows(images: Any) -> Any:
    """Returns batch times height, an integer if both are known."""
    batch, height = images.shape.as_list()[:2]
    if batch is not None and height is not None:
        return batch * height
    sizes = tf.shape(images)
    return sizes[0] * sizes[1]


def _or_unknown(size: int | None) -> int:
    return -1 if size is None else size
