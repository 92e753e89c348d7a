"""Sizes of feature maps, bilinear resizing, and the positions of activations.

Segmentation resizes feature maps to the size of other feature maps or of the labels, even if the
sizes are known only at run time. `spatial_softmax` finds keypoints.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import get_variable_collections
from tf_frame.layers.sizes import channels_first
from tf_frame.layers.variables import model_variable


def spatial_size(inputs: Any) -> Any:
    """Returns `[height, width]`: a list of integers if both are known, otherwise a tensor.

    Args:
      inputs: `[batch, height, width, ...]`.
    """
    size = inputs.shape[1:3]
    return size.as_list() if size.is_fully_defined() else tf.shape(inputs)[1:3]


def resize_bilinear(
    inputs: Any,
    size: Any,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool | None = None,
) -> Any:
    """Resizes images by bilinear interpolation, unless they have the size already; to float32.

    Args:
      inputs: `[batch, height, width, channels]`, of any numeric type.
      size: `[new_height, new_width]`, as `spatial_size` returns it.
      align_corners: whether the centres of the corner pixels coincide, for sizes of the form
        `stride * n + 1`; otherwise their outer corners coincide.
      half_pixel_centers: None: unless `align_corners`. False, without `align_corners`: the upper
        left corners of pixels take the part of their centres, the default of TensorFlow 1's
        `tf.image.resize_bilinear`.
    """
    if isinstance(size, list) and inputs.shape[1:3].as_list() == size:
        return tf.cast(inputs, tf.float32)
    # The raw op, because `tf.image.resize_bilinear` logs a deprecation warning.
    return tf.raw_ops.ResizeBilinear(
        images=inputs,
        size=size,
        align_corners=align_corners,
        half_pixel_centers=not align_corners if half_pixel_centers is None else half_pixel_centers,
    )


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Computes the expected position of each channel's activation.

    The softmax of a channel over space is the distribution of the position
    (https://arxiv.org/abs/1509.06113). The scalar variable `temperature` divides the
    logits.

    Args:
      features: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]` with "NCHW"; the number of channels known.
      temperature: initial value; None: 1.
      name: variable scope; None: "spatial_softmax", made unique.
      variables_collections: collections of the temperature, if it is trained.
      trainable: whether the temperature is trained.
      data_format: "NHWC" or "NCHW".

    Returns:
      `[batch, 2 * channels]`: vertical and horizontal position of each channel, from
      -1 at the first pixel to 1 at the last.

    Raises:
      ValueError: another data format, or the number of channels is unknown.
    """
    with tf.variable_scope(name, "spatial_softmax"):
        features = tf.convert_to_tensor(features)
        first = channels_first(data_format)
        channels = features.shape.as_list()[1 if first else 3]
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                f"Found `None` in {features.shape}."
            )
        collections = get_variable_collections(variables_collections, "temperature")
        divisor = model_variable(
            "temperature",
            (),
            tf.float32,
            initializer=tf.constant_initializer(1.0 if temperature is None else temperature),
            collections=collections if trainable else None,
            trainable=trainable,
        )
        if not first:
            features = tf.transpose(features, [0, 3, 1, 2])
        with tf.name_scope("spatial_softmax_op"):
            positions = _expected_positions(features, divisor)
            keypoints = tf.reshape(positions, [-1, 2 * channels])
            keypoints.set_shape([features.shape[0], 2 * channels])
            return keypoints


def _expected_positions(features: Any, temperature: Any) -> Any:
    """Maps `[batch, channels, height, width]` to `[batch * channels, 2]`."""
    height, width = tf.unstack(tf.shape(features)[2:])
    down, right = tf.meshgrid(
        tf.linspace(-1.0, 1.0, height), tf.linspace(-1.0, 1.0, width), indexing="ij"
    )
    attention = tf.nn.softmax(tf.reshape(features, [-1, height * width]) / temperature)
    pixels = tf.stack([tf.reshape(down, [-1]), tf.reshape(right, [-1])], axis=1)
    return tf.matmul(attention, pixels)
