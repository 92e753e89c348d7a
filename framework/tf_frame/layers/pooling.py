"""Pooling over space, with slim's arguments and names.

Networks written for slim therefore build unchanged, and their end points keep their names.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs
from tf_frame.layers.sizes import channels_first, n_positive_integers
from tf_frame.layers.steps import fix_rank

_OPERATIONS = {
    ("AvgPool", 2): tf.nn.avg_pool2d,
    ("MaxPool", 2): tf.nn.max_pool2d,
    ("AvgPool", 3): tf.nn.avg_pool3d,
    ("MaxPool", 3): tf.nn.max_pool3d,
}
_FORMATS = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _pool(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str | None = None,
    outputs_collections: Any = None,
    scope: str | None = None,
    *,
    conv_dims: int,
    kind: str,
) -> Any:
    """Takes the average or the maximum of windows of two or three dimensions.

    Padding does not count.

    Args:
      inputs: `[batch, *sizes, channels]`, or `[batch, channels, *sizes]`, which in two
        dimensions TensorFlow supports on GPUs only. The sizes are height and width, in
        three dimensions depth, height and width.
      kernel_size: size of the window in each dimension, in pixels; or one integer for all.
      stride: distance between windows in each dimension; or one integer for all.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW"; in three dimensions "NDHWC" or "NCDHW".
      outputs_collections: collections that the outputs are added to.
      scope: name scope; None: "AvgPool2D", "MaxPool3D" ..., made unique.

    Returns:
      `[batch, *new_sizes, channels]`, or `[batch, channels, *new_sizes]`.

    Raises:
      ValueError: another data format.
    """
    operation, formats = _OPERATIONS[kind, conv_dims], _FORMATS[conv_dims]
    data_format = data_format or formats[0]
    first = channels_first(data_format, formats)
    window = n_positive_integers(conv_dims, kernel_size)
    strides = n_positive_integers(conv_dims, stride)
    padding = padding.upper()
    with tf.name_scope(scope, f"{kind}{conv_dims}D", [inputs]) as name:
        # The kernels for three dimensions support channels last only.
        turned = first and conv_dims == 3
        values = tf.transpose(inputs, [0, 2, 3, 4, 1]) if turned else inputs
        options = {"data_format": data_format, "name": kind} if conv_dims == 2 else {}
        outputs = operation(values, window, strides, padding, **options)
        outputs = tf.transpose(outputs, [0, 4, 1, 2, 3]) if turned else outputs
        return collect_named_outputs(outputs_collections, name, outputs)


avg_pool2d = fix_rank(_pool, 2, "avg_pool2d", "NHWC", kind="AvgPool")
avg_pool3d = fix_rank(_pool, 3, "avg_pool3d", "NDHWC", kind="AvgPool")
max_pool2d = fix_rank(_pool, 2, "max_pool2d", "NHWC", kind="MaxPool")
max_pool3d = fix_rank(_pool, 3, "max_pool3d", "NDHWC", kind="MaxPool")


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Pools in one, two or three dimensions, optionally over dilated windows.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` if the data format
        begins with "NC".
      kernel_size: size of the window in each dimension, or one integer for all.
      pooling_type: "AVG" or "MAX".
      padding: "VALID" or "SAME".
      data_format: "NWC", "NHWC" or "NDHWC" (None: by rank), or "NCW", "NCHW", "NCDHW".
      dilation_rate: distance between the elements of a window, or one integer for all.
      stride: distance between windows, or one integer for all; 1 with dilation.
      outputs_collections: collections that the outputs are added to.
      scope: name of the op; None: "avg_pool" or "max_pool", made unique.

    Raises:
      ValueError: the rank is unknown or less than 3.
    """
    with tf.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as name:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError(f"Rank of inputs must be >= 3, it is {rank}")
        outputs = tf.nn.pool(
            inputs,
            window_shape=n_positive_integers(rank - 2, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(rank - 2, dilation_rate),
            strides=n_positive_integers(rank - 2, stride),
            name=name,
        )
        return collect_named_outputs(outputs_collections, name, outputs)


def global_average_pool(
    inputs: Any, *, keep_dims: bool = True, data_format: str = "NHWC", scope: str = "AvgPool"
) -> Any:
    """Averages over height and width.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]` with "NCHW"; the sizes may be unknown.
      keep_dims: whether height and width are kept, with size 1.
      data_format: "NHWC" or "NCHW".
      scope: name of the op.

    Returns:
      `[batch, 1, 1, channels]` or `[batch, channels, 1, 1]`; without `keep_dims`
      `[batch, channels]`.
    """
    axis = [2, 3] if channels_first(data_format) else [1, 2]
    return tf.reduce_mean(inputs, axis=axis, keepdims=keep_dims, name=scope)


global_avg_pool = global_average_pool
