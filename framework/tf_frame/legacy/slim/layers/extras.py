"""Small layers of tf_slim that no network of today needs, so `tf_frame.layers` has them not.

Same behaviour as tf_slim, layers/layers.py and layers/bucketization_op.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs

__all__ = [
    "bucketize",
    "dense_to_sparse",
    "images_to_sequence",
    "scale_gradient",
    "sequence_to_images",
]


def bucketize(input_tensor: Any, boundaries: Sequence[float], name: str | None = None) -> Any:
    """How many of the boundaries each number has reached.

    Args:
      input_tensor: numbers of any shape.
      boundaries: ascending.
      name: of the operation.

    Returns:
      int32 of the same shape, from 0 to the number of boundaries.
    """
    return tf.raw_ops.Bucketize(input=input_tensor, boundaries=list(boundaries), name=name)


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: int = 0, outputs_collections: Any = None, scope: str | None = None
) -> Any:
    """Labels as a `tf.SparseTensor`, for `tf.nn.ctc_loss`.

    Args:
      tensor: labels of any shape.
      eos_token: the value that is left out.
      outputs_collections: where the output goes, too.
      scope: None means `dense_to_sparse`, made unique.
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
    """Columns of images as the steps of sequences, one sequence for each row.

    Args:
      inputs: `[batch, height, width, channels]`, or channels second for `NCHW`.
      data_format: `NHWC` or `NCHW`.
      outputs_collections: where the output goes, too.
      scope: name scope; None means `ImagesToSequence`, made unique.

    Returns:
      `[width, batch * height, channels]`.

    Raises:
      ValueError: the format is another.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC, not {data_format!r}.")
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as entered:
        inputs = tf.convert_to_tensor(inputs)
        if data_format == "NCHW":
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
    """Steps of sequences as columns of images; undoes `images_to_sequence`.

    Args:
      inputs: `[width, batch * height, channels]`.
      height: rows of an image.
      output_data_format: `channels_last` or `channels_first`.
      outputs_collections: where the output goes, too.
      scope: name scope; None means `SequenceToImages`, made unique.

    Returns:
      `[batch, height, width, channels]`, or channels second.
    """
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as entered:
        inputs = tf.convert_to_tensor(inputs)
        width, sequences, channels = inputs.shape.as_list()
        batch = -1 if sequences is None else sequences // height
        columns = tf.reshape(inputs, [width, batch, height, channels])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, entered, tf.transpose(columns, order))


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """The tensor itself, whose gradient is multiplied on its way back.

    Args:
      inputs: a tensor.
      gradient_multiplier: number or tensor that broadcasts to the shape of `inputs`.
    """

    def scaled(values: Any) -> Any:
        return tf.identity(values), lambda gradient: gradient * gradient_multiplier

    return tf.custom_gradient(scaled)(inputs)


def _rows(images: Any) -> Any:
    """Batch times height, as a number where it is known."""
    batch, height = images.shape.as_list()[:2]
    if batch is not None and height is not None:
        return batch * height
    sizes = tf.shape(images)
    return sizes[0] * sizes[1]


def _or_unknown(size: int | None) -> int:
    return -1 if size is None else size
