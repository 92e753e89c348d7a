"""Box predictors: from feature maps to box codes and logits of classes for every anchor.

Layers and names of variables are those of the object detection API (tensorflow/models,
research/object_detection/predictors, convolutional_box_predictor.py and heads/): for SSD
`BoxPredictor_0/BoxEncodingPredictor/weights`, `BoxPredictor_0/ClassPredictor/weights`, with
`..._depthwise/depthwise_weights` before each in SSDLite; for RetinaNet
`WeightSharedConvolutionalBoxPredictor/BoxPredictionTower/conv2d_0/weights`, with batch norm of each
level in `.../conv2d_0/BatchNorm/feature_0/`, and `.../BoxPredictor/weights`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_detection.networks.convolutions import Convolutions, sides


@dataclasses.dataclass(frozen=True, kw_only=True)
class Heads:
    """Sizes of the predictions of an anchor, and settings that both predictors have.

    Attributes:
      code_size: numbers that describe a box.
      num_slots: logits of classes, the background included.
      kernel_size: height and width of the last kernels.
      class_bias: initial bias of the logits.
      convolutions: settings of the layers.
    """

    code_size: int
    num_slots: int
    kernel_size: int
    class_bias: float
    convolutions: Convolutions

    def biases(self) -> Any:
        """Returns the initializer of the biases of logits."""
        return tf.constant_initializer(self.class_bias)


def convolutional(
    maps: Sequence[Any], num_anchors: Sequence[int], heads: Heads, *, use_depthwise: bool = False
) -> tuple[Any, Any]:
    """Builds a predictor of its own for each map, as in SSD.

    Args:
      maps: `[batch, height, width, channels]` each.
      num_anchors: anchors at a position of each map.
      heads: sizes and settings.
      use_depthwise: whether a depthwise convolution is before each prediction, as in SSDLite.

    Returns:
      Box codes `[batch, anchors, code_size]` and logits `[batch, anchors, num_slots]`; anchors
      in the order of maps, rows, columns, anchors at a position.
    """
    codes, logits = [], []
    for index, (net, count) in enumerate(zip(maps, num_anchors, strict=True)):
        with (
            tf.variable_scope(f"BoxPredictor_{index}"),
            layers.arg_scope(heads.convolutions.arg_scope()),
        ):
            outputs = [
                ("BoxEncodingPredictor", heads.code_size, tf.zeros_initializer()),
                ("ClassPredictor", heads.num_slots, heads.biases()),
            ]
            boxes, classes = (
                _prediction(net, count, size, scope, biases, heads.kernel_size, use_depthwise)
                for scope, size, biases in outputs
            )
            codes.append(boxes)
            logits.append(classes)
    return tf.concat(codes, 1), tf.concat(logits, 1)


def _prediction(
    net: Any, count: int, size: int, scope: str, biases: Any, kernel_size: int, use_depthwise: bool
) -> Any:
    if use_depthwise:
        net = layers.separable_conv2d(net, None, kernel_size, scope=f"{scope}_depthwise")
        kernel_size = 1
    net = layers.conv2d(
        net,
        count * size,
        kernel_size,
        activation_fn=None,
        normalizer_fn=None,
        biases_initializer=biases,
        scope=scope,
    )
    return _by_anchor(net, size)


def weight_shared(
    maps: Sequence[Any], num_anchors: int, heads: Heads, *, depth: int, num_layers: int
) -> tuple[Any, Any]:
    """Builds one predictor for all maps, with batch norm of its own for each, as in RetinaNet.

    Args:
      maps: `[batch, height, width, channels]` each, of the same number of channels.
      num_anchors: anchors at a position.
      heads: sizes and settings.
      depth: channels of the layers before the predictions.
      num_layers: number of these layers, for boxes and for classes each.

    Returns:
      As `convolutional`.
    """
    codes, logits = [], []
    for index, net in enumerate(maps):
        with (
            tf.variable_scope("WeightSharedConvolutionalBoxPredictor", reuse=tf.AUTO_REUSE),
            layers.arg_scope(heads.convolutions.arg_scope()),
        ):
            outputs = [
                ("BoxPredictionTower", "BoxPredictor", heads.code_size, tf.zeros_initializer()),
                ("ClassPredictionTower", "ClassPredictor", heads.num_slots, heads.biases()),
            ]
            boxes, classes = (
                _prediction(
                    _tower(net, tower, depth, num_layers, index),
                    *(num_anchors, size, scope, biases, heads.kernel_size, False),
                )
                for tower, scope, size, biases in outputs
            )
            codes.append(boxes)
            logits.append(classes)
    return tf.concat(codes, 1), tf.concat(logits, 1)


def _tower(net: Any, scope: str, depth: int, num_layers: int, index: int) -> Any:
    """Builds the layers before a prediction on the map of a number."""
    for layer in range(num_layers):
        # The identity stands for a normalizer: the layer has no biases.
        net = layers.conv2d(
            net,
            depth,
            3,
            activation_fn=None,
            normalizer_fn=tf.identity,
            scope=f"{scope}/conv2d_{layer}",
        )
        net = layers.batch_norm(net, scope=f"{scope}/conv2d_{layer}/BatchNorm/feature_{index}")
        net = tf.nn.relu6(net)
    return net


def _by_anchor(net: Any, size: int) -> Any:
    """Reshapes `[batch, height, width, anchors * size]` to `[batch, height * ..., size]`."""
    height, width = sides(net)
    return tf.reshape(net, [-1, height * width * (int(net.shape[3]) // size), size])
