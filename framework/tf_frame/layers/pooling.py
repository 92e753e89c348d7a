"""Pooling over space, with slim's arguments and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs
from tf_frame.layers.sizes import n_positive_integers


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Averages over windows of height and width.

    With "SAME", what lies outside the image does not count.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]` with "NCHW", which TensorFlow computes on GPUs only.
      kernel_size: height and width of the window, in pixels; or one for both.
      stride: pixels from one window to the next, down and right; or one for both.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW".
      outputs_collections: collections that the outputs are added to.
      scope: name scope; "AvgPool2D" made unique when None.

    Returns:
      `[batch, new_height, new_width, channels]`, or with "NCHW" its like.

    Raises:
      ValueError: another data format.
    """
    with tf.name_scope(scope, "AvgPool2D", [inputs]) as name:
        outputs = _pool_2d(tf.nn.avg_pool2d, inputs, kernel_size, stride, padding, data_format)
        return collect_named_outputs(outputs_collections, name, outputs)


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Takes the maximum of windows of height and width; arguments as of `avg_pool2d`."""
    with tf.name_scope(scope, "MaxPool2D", [inputs]) as name:
        outputs = _pool_2d(tf.nn.max_pool2d, inputs, kernel_size, stride, padding, data_format)
        return collect_named_outputs(outputs_collections, name, outputs)


@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Averages over windows of depth, height and width.

    Args:
      inputs: `[batch, depth, height, width, channels]`, or `[batch, channels,
        depth, height, width]` with "NCDHW".
      kernel_size: depth, height and width of the window; or one for all.
      stride: from one window to the next, along each of them; or one for all.
      padding: "VALID" or "SAME".
      data_format: "NDHWC" or "NCDHW".
      outputs_collections: collections that the outputs are added to.
      scope: name scope; "AvgPool3D" made unique when None.

    Returns:
      `[batch, new_depth, new_height, new_width, channels]`, or its like.

    Raises:
      ValueError: another data format.
    """
    with tf.name_scope(scope, "AvgPool3D", [inputs]) as name:
        outputs = _pool_3d(tf.nn.avg_pool3d, inputs, kernel_size, stride, padding, data_format)
        return collect_named_outputs(outputs_collections, name, outputs)


@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Takes the maximum of windows in three dimensions; arguments as of `avg_pool3d`."""
    with tf.name_scope(scope, "MaxPool3D", [inputs]) as name:
        outputs = _pool_3d(tf.nn.max_pool3d, inputs, kernel_size, stride, padding, data_format)
        return collect_named_outputs(outputs_collections, name, outputs)


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
    """Pools over one, two or three dimensions, also with gaps in the window.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` where the
        data format begins with "NC".
      kernel_size: sizes of the window, or one for all.
      pooling_type: "AVG" or "MAX".
      padding: "VALID" or "SAME".
      data_format: "NWC", "NHWC", "NDHWC" (None means these), "NCW", "NCHW" or "NCDHW".
      dilation_rate: from one element of the window to the next, or one for all.
      stride: from one window to the next, or one for all; 1 where there is dilation.
      outputs_collections: collections that the outputs are added to.
      scope: name of the op; "avg_pool" or "max_pool" made unique when None.

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
      keep_dims: whether height and width stay, as 1.
      data_format: "NHWC" or "NCHW".
      scope: name of the op.

    Returns:
      `[batch, 1, 1, channels]` (or its like), or `[batch, channels]` without `keep_dims`.
    """
    axis = [2, 3] if _channels_first(data_format, ("NHWC", "NCHW")) else [1, 2]
    return tf.reduce_mean(inputs, axis=axis, keepdims=keep_dims, name=scope)


global_avg_pool = global_average_pool


def _pool_2d(
    operation: Callable[..., Any],
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
) -> Any:
    _channels_first(data_format, ("NHWC", "NCHW"))
    window, strides = n_positive_integers(2, kernel_size), n_positive_integers(2, stride)
    name = "MaxPool" if operation is tf.nn.max_pool2d else "AvgPool"
    return operation(inputs, window, strides, padding.upper(), data_format=data_format, name=name)


def _pool_3d(
    operation: Callable[..., Any],
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
) -> Any:
    # The kernels have the channels last only, as in the layers that slim used.
    turned = _channels_first(data_format, ("NDHWC", "NCDHW"))
    window, strides = n_positive_integers(3, kernel_size), n_positive_integers(3, stride)
    inputs = tf.transpose(inputs, [0, 2, 3, 4, 1]) if turned else inputs
    outputs = operation(inputs, window, strides, padding.upper())
    return tf.transpose(outputs, [0, 4, 1, 2, 3]) if turned else outputs


def _channels_first(data_format: str, formats: tuple[str, str]) -> bool:
    if data_format not in formats:
        # Both texts are slim's.
        raise ValueError(
            f"data_format has to be either {formats[1]} or {formats[0]}. Found {data_format!r}"
        )
    return data_format == formats[1]
