"""The network of TensorFlow's CIFAR-10 tutorial, for images of 32 x 32 pixels.

After cuda-convnet's layers-18pct (Krizhevsky).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.image_size import check_image_size, default_image_size

# Two poolings leave one pixel of an image of this size.
_LEAST_SIZE = 4


@default_image_size(32)
def cifarnet(
    images: Any,
    num_classes: int | None = 10,
    is_training: bool = False,
    dropout_keep_prob: float = 0.5,
    prediction_fn: Callable[..., Any] = layers.softmax,
    scope: Any = "CifarNet",
) -> tuple[Any, dict[str, Any]]:
    """Builds two convolutions with pooling and local normalisation, then three dense layers."""
    check_image_size(images, least=_LEAST_SIZE, network="cifarnet", advice="enlarge them")
    end_points: dict[str, Any] = {}
    with tf.variable_scope(scope, "CifarNet", [images]):
        net = _convolutions(images, end_points)
        net = end_points["Flatten"] = layers.flatten(net)
        net = end_points["fc3"] = layers.fully_connected(net, 384, scope="fc3")
        net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout3")
        net = end_points["fc4"] = layers.fully_connected(net, 192, scope="fc4")
        if not num_classes:
            return net, end_points
        logits = end_points["Logits"] = _logits(net, num_classes)
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def cifarnet_arg_scope(weight_decay: float = 0.004) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`.

    Args:
      weight_decay: scale of the L2 penalty on the weights of the fully connected
        layers; convolutions and logits pay none.
    """
    with (
        layers.arg_scope(
            [layers.conv2d],
            weights_initializer=tf.truncated_normal_initializer(stddev=0.05),
            activation_fn=tf.nn.relu,
        ),
        layers.arg_scope(
            [layers.fully_connected],
            biases_initializer=tf.constant_initializer(0.1),
            weights_initializer=tf.truncated_normal_initializer(stddev=0.04),
            weights_regularizer=layers.l2_regularizer(weight_decay),
            activation_fn=tf.nn.relu,
        ) as scope,
    ):
        return scope


def _convolutions(images: Any, end_points: dict[str, Any]) -> Any:
    net = end_points["conv1"] = layers.conv2d(images, 64, [5, 5], scope="conv1")
    net = end_points["pool1"] = layers.max_pool2d(net, [2, 2], 2, scope="pool1")
    net = _local_normalization(net, "norm1")
    net = end_points["conv2"] = layers.conv2d(net, 64, [5, 5], scope="conv2")
    net = _local_normalization(net, "norm2")
    net = end_points["pool2"] = layers.max_pool2d(net, [2, 2], 2, scope="pool2")
    return net


def _local_normalization(net: Any, name: str) -> Any:
    return tf.nn.lrn(net, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name=name)


def _logits(net: Any, num_classes: int) -> Any:
    return layers.fully_connected(
        net,
        num_classes,
        biases_initializer=tf.zeros_initializer(),
        weights_initializer=tf.truncated_normal_initializer(stddev=1 / 192.0),
        weights_regularizer=None,
        activation_fn=None,
        scope="logits",
    )
