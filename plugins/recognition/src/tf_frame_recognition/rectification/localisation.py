"""Localisation network: predicts the control points around the word of an image.

As in ASTER (bgshih/aster, convnets/stn_convnet.py and core/spatial_transformer.py) the layers are
convolutions, a hidden layer, and a last one that is initialised to the frame, so that training
begins without a change of the image. ASTER has six convolutions with pooling; here are four of
fewer channels that halve the size, which a CPU computes along with a small recogniser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from numpy.typing import NDArray

from tf_frame import layers
from tf_frame.errors import ConfigError

# Height and width of the images that the network looks at.
_SIZE = [32, 64]
_CHANNELS = (16, 32, 64, 64)
_HIDDEN = 128
# ASTER's factor on the hidden layer, which slows the control points down.
_HIDDEN_SCALE = 0.1
_INVERSES = {"none": lambda points: points, "sigmoid": lambda points: -np.log(1 / points - 1)}


def control_points(
    images: Any,
    frame: NDArray[Any],
    *,
    is_training: bool,
    activation: str = "none",
    batch_norm_decay: float = 0.99,
) -> Any:
    """Predicts control points; untrained, they are the frame.

    Args:
      images: `[batch, height, width, channels]` float32, 0 to 255.
      frame: `[k, 2]`: the first control points.
      is_training: whether batch norm takes the statistics of the batch.
      activation: `none`, or `sigmoid`, which keeps the points inside the image.
      batch_norm_decay: what moving statistics keep per step.

    Returns:
      `[batch, k, 2]` float32: x, y as shares of width and height.

    Raises:
      ConfigError: the activation is unknown, or the frame has points where a sigmoid is infinite.
    """
    if activation not in _INVERSES:
        raise ConfigError(
            f"control points have no activation {activation!r}; choose one of"
            f" {', '.join(_INVERSES)}"
        )
    if activation == "sigmoid" and not frame.min() > 0:
        raise ConfigError(
            "control points by a sigmoid cannot begin on an edge of the image; give margins above 0"
            " or the activation none"
        )
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            normalizer_fn=layers.batch_norm,
            normalizer_params={"is_training": is_training, "decay": batch_norm_decay},
            weights_initializer=layers.variance_scaling_initializer(),
        ),
    ):
        hidden = _HIDDEN_SCALE * layers.fully_connected(_features(images), _HIDDEN, scope="fc1")
    start = _INVERSES[activation](frame).reshape(-1)
    points = layers.fully_connected(
        hidden,
        frame.size,
        activation_fn=tf.sigmoid if activation == "sigmoid" else None,
        weights_initializer=tf.zeros_initializer(),
        biases_initializer=tf.constant_initializer(start),
        scope="fc2",
    )
    return tf.reshape(points, [-1, *frame.shape])


def _features(images: Any) -> Any:
    net = layers.resize_bilinear(images / 127.5 - 1, _SIZE)
    for number, channels in enumerate(_CHANNELS, start=1):
        net = layers.conv2d(net, channels, 3, stride=2, scope=f"conv{number}")
    return layers.flatten(net)
