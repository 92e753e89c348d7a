"""The layers of DeepLab: convolution, batch norm and rectifier in one call."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers

# The deviations that slim's and DeepLab's separable convolutions start from.
_DEPTHWISE_STDDEV = 0.33
_POINTWISE_STDDEV = 0.06


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """Makes layers that share their settings.

    Attributes:
      is_training: whether batch norm uses, and keeps, statistics of the batch.
      decay: what batch norm's moving averages keep per step.
      epsilon: added to the variance in batch norm.
      weight_decay: scale of the L2 penalty on full and pointwise convolutions.
      activation: the rectifier.
    """

    is_training: bool
    decay: float
    epsilon: float
    weight_decay: float
    activation: Any = tf.nn.relu

    def conv(
        self,
        inputs: Any,
        filters: int,
        kernel_size: int,
        *,
        scope: str,
        stride: int = 1,
        linear: bool = False,
        initializer: Any = None,
    ) -> Any:
        """Convolves, normalises and, unless `linear`, activates."""
        return layers.conv2d(
            inputs,
            filters,
            kernel_size,
            stride=stride,
            activation_fn=None if linear else self.activation,
            normalizer_fn=self._batch_norm,
            weights_initializer=initializer or layers.xavier_initializer(),
            weights_regularizer=layers.l2_regularizer(self.weight_decay),
            scope=scope,
        )

    def depthwise(
        self, inputs: Any, *, scope: str, stride: int = 1, rate: int = 1, initializer: Any = None
    ) -> Any:
        """Convolves each channel with a 3x3 kernel, which pays no L2 penalty."""
        return layers.separable_conv2d(
            inputs,
            None,
            3,
            stride=stride,
            rate=rate,
            activation_fn=self.activation,
            normalizer_fn=self._batch_norm,
            weights_initializer=initializer or _truncated_normal(_DEPTHWISE_STDDEV),
            scope=scope,
        )

    def separable(self, inputs: Any, filters: int, *, scope: str, rate: int = 1) -> Any:
        """Makes `<scope>_depthwise`, 3x3, and `<scope>_pointwise`, 1x1."""
        net = self.depthwise(inputs, rate=rate, scope=f"{scope}_depthwise")
        initializer = _truncated_normal(_POINTWISE_STDDEV)
        return self.conv(net, filters, 1, initializer=initializer, scope=f"{scope}_pointwise")

    @property
    def _batch_norm(self) -> Any:
        return functools.partial(
            layers.batch_norm,
            is_training=self.is_training,
            decay=self.decay,
            epsilon=self.epsilon,
            scale=True,
        )


def _truncated_normal(stddev: float) -> Any:
    return tf.truncated_normal_initializer(stddev=stddev)
