"""Layers of pyramids and decoders, and sizes of pooled and resized features.

Resizing follows `--model.align_corners`. DeepLab resizes everything (images at several scales,
pooled features, features in the decoder, logits) with `align_corners=True`: tensorflow/models,
research/deeplab/core/utils.py, `resize_bilinear`, and model.py. Published weights need the same.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers

# Standard deviations of the initial weights of slim's and DeepLab's separable convolutions.
_DEPTHWISE_STDDEV = 0.33
_POINTWISE_STDDEV = 0.06


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """Makes layers of convolution, batch norm and rectifier that share their settings.

    Attributes:
      is_training: whether batch norm uses and records statistics of the batch.
      params: decay of batch norm, weight decay, and how to resize.
    """

    is_training: bool
    params: Any

    def conv(self, inputs: Any, filters: int, *, scope: str, initializer: Any = None) -> Any:
        """Convolves with a 1x1 kernel under an L2 penalty."""
        return layers.conv2d(
            inputs,
            filters,
            1,
            normalizer_fn=self._batch_norm,
            weights_initializer=initializer or layers.xavier_initializer(),
            weights_regularizer=layers.l2_regularizer(self.params.weight_decay),
            scope=scope,
        )

    def biased(self, inputs: Any, filters: int, *, scope: str, activation_fn: Any = None) -> Any:
        """Convolves with a 1x1 kernel and biases, without batch norm."""
        return layers.conv2d(
            inputs,
            filters,
            1,
            activation_fn=activation_fn,
            weights_regularizer=layers.l2_regularizer(self.params.weight_decay),
            scope=scope,
        )

    def separable(
        self, inputs: Any, filters: int, *, scope: str, kernel_size: Any = 3, rate: Any = 1
    ) -> Any:
        """Makes `<scope>_depthwise`, 3x3 without a penalty, and `<scope>_pointwise`, 1x1."""
        net = layers.separable_conv2d(
            inputs,
            None,
            kernel_size,
            rate=rate,
            normalizer_fn=self._batch_norm,
            weights_initializer=tf.truncated_normal_initializer(stddev=_DEPTHWISE_STDDEV),
            scope=f"{scope}_depthwise",
        )
        initializer = tf.truncated_normal_initializer(stddev=_POINTWISE_STDDEV)
        return self.conv(net, filters, initializer=initializer, scope=f"{scope}_pointwise")

    def resize(self, inputs: Any, *, like: Any) -> Any:
        """Resizes to the height and width of another tensor."""
        size = layers.spatial_size(like)
        return layers.resize_bilinear(inputs, size, align_corners=self.params.align_corners)

    @property
    def _batch_norm(self) -> Any:
        return functools.partial(
            layers.batch_norm,
            is_training=self.is_training,
            decay=self.params.batch_norm_decay,
            epsilon=1e-5,
            scale=True,
        )


def scaled_size(size: Any, factor: float) -> Any:
    """Multiplies sizes as `scale_dimension` of DeepLab: `(side - 1) * factor + 1`, rounded down.

    The centres of corner pixels stay in place. With the inverse of a stride the result is the size
    of a feature map.

    Args:
      size: `[height, width]`, numbers or an int32 tensor.
      factor: the factor.
    """
    if tf.is_tensor(size):
        return tf.cast((tf.cast(size, tf.float32) - 1.0) * factor + 1.0, tf.int32)
    return [int((side - 1.0) * factor + 1.0) for side in size]
