"""Where in the image a channel is active, https://arxiv.org/abs/1509.06113."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import get_variable_collections
from tf_frame.layers.variables import model_variable


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Computes the expected position of each channel, its activations being logits.

    The variable `temperature`, a scalar, divides the logits.

    Args:
      features: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]` with "NCHW"; the number of channels known.
      temperature: its first value; 1 when None.
      name: variable scope; "spatial_softmax" made unique when None.
      variables_collections: of the temperature, if it is trained.
      trainable: whether the temperature is trained.
      data_format: "NHWC" or "NCHW".

    Returns:
      `[batch, 2 * channels]`: for each channel the position down and right, -1 at
      the first pixel and 1 at the last.

    Raises:
      ValueError: another data format, or the number of channels not known.
    """
    with tf.variable_scope(name, "spatial_softmax"):
        features = tf.convert_to_tensor(features)
        channels = _channels(features, data_format)
        collections = get_variable_collections(variables_collections, "temperature")
        divisor = model_variable(
            "temperature",
            (),
            tf.float32,
            initializer=tf.constant_initializer(1.0 if temperature is None else temperature),
            collections=collections if trainable else None,
            trainable=trainable,
        )
        if data_format == "NHWC":
            features = tf.transpose(features, [0, 3, 1, 2])
        with tf.name_scope("spatial_softmax_op"):
            positions = _expected_positions(features, divisor)
            keypoints = tf.reshape(positions, [-1, 2 * channels])
            keypoints.set_shape([features.shape[0], 2 * channels])
            return keypoints


def _channels(features: Any, data_format: str) -> int:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. Found {data_format!r}")
    channels = features.shape.as_list()[3 if data_format == "NHWC" else 1]
    if channels is None:
        raise ValueError(
            "The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
            f"Found `None` in {features.shape}."
        )
    return int(channels)


def _expected_positions(features: Any, temperature: Any) -> Any:
    """From `[batch, channels, height, width]` to `[batch * channels, 2]`."""
    height, width = tf.unstack(tf.shape(features)[2:])
    down, right = tf.meshgrid(
        tf.linspace(-1.0, 1.0, height), tf.linspace(-1.0, 1.0, width), indexing="ij"
    )
    attention = tf.nn.softmax(tf.reshape(features, [-1, height * width]) / temperature)
    of_pixels = tf.stack([tf.reshape(down, [-1]), tf.reshape(right, [-1])], axis=1)
    return tf.matmul(attention, of_pixels)
