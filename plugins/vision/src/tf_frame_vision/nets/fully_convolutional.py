"""Common head of AlexNet and VGG: fully connected layers, made as convolutions.

A kernel as large as the last feature map is a fully connected layer there, and slides over a larger
image: the network then gives a map of logits, where a matrix product would fail.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers

_FEATURES = 4096


@dataclasses.dataclass(frozen=True, kw_only=True)
class Head:
    """Fully connected layers, dropout and logits on the last feature map.

    Attributes:
      kernel_size: height and width of the map at the network's own image size.
      padding: of the first convolution: "VALID", or "SAME" to keep the map's size.
      num_classes: number of classes; without (None or 0) there are no logits.
      is_training: whether to drop features.
      dropout_keep_prob: share of the features that are kept in training.
      spatial_squeeze: whether to remove height and width, which must be 1.
      global_pool: whether to average the features over height and width.
      logits_arguments: further arguments of the convolution that makes logits.
    """

    kernel_size: int
    padding: str
    num_classes: int | None
    is_training: bool
    dropout_keep_prob: float
    spatial_squeeze: bool
    global_pool: bool
    logits_arguments: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __call__(self, net: Any, scope: Any, collection: str) -> tuple[Any, dict[str, Any]]:
        """Adds fc6, fc7 and, for logits, fc8.

        Args:
          scope: the network's variable scope.
          collection: where the layers' outputs are collected.

        Returns:
          Logits, or the output of fc7; and the end points by name.
        """
        size = [self.kernel_size, self.kernel_size]
        net = layers.conv2d(net, _FEATURES, size, padding=self.padding, scope="fc6")
        net = self._dropout(net, "dropout6")
        net = layers.conv2d(net, _FEATURES, [1, 1], scope="fc7")
        # Before fc8: its end point has no height and width.
        end_points = layers.convert_collection_to_dict(collection)
        if self.global_pool:
            net = tf.reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
            end_points["global_pool"] = net
        if self.num_classes:
            net = end_points[f"{scope.name}/fc8"] = self._logits(net)
        return net, end_points

    def _logits(self, net: Any) -> Any:
        net = layers.conv2d(
            self._dropout(net, "dropout7"),
            self.num_classes,
            [1, 1],
            activation_fn=None,
            normalizer_fn=None,
            scope="fc8",
            **self.logits_arguments,
        )
        return tf.squeeze(net, [1, 2], name="fc8/squeezed") if self.spatial_squeeze else net

    def _dropout(self, net: Any, scope: str) -> Any:
        keep_prob = self.dropout_keep_prob
        return layers.dropout(net, keep_prob, is_training=self.is_training, scope=scope)
