"""OverFeat, the fast network of https://arxiv.org/abs/1312.6229, table 1."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.image_size import default_image_size


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of the layers, for `arg_scope`."""
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            activation_fn=tf.nn.relu,
            weights_regularizer=layers.l2_regularizer(weight_decay),
            biases_initializer=tf.zeros_initializer(),
        ),
        layers.arg_scope([layers.conv2d], padding="SAME"),
        layers.arg_scope([layers.max_pool2d], padding="VALID") as scope,
    ):
        return scope


@default_image_size(231)
def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: bool = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> tuple[Any, dict[str, Any]]:
    """Builds the network, its fully connected layers made as convolutions.

    Args:
      inputs: `[batch, height, width, 3]`, 231 x 231 pixels to classify; larger ones without
        `spatial_squeeze`, for a map of logits.
      num_classes: number of classes.
      is_training: whether to drop features.
      dropout_keep_prob: share of the features that are kept in training.
      spatial_squeeze: whether to remove height and width, which must be 1.
      scope: variable scope.

    Returns:
      Logits `[batch, classes]`, and the outputs of the layers by name.
    """
    with tf.variable_scope(scope, "overfeat", [inputs]) as entered:
        collection = f"{entered.name}_end_points"
        with layers.arg_scope(
            [layers.conv2d, layers.fully_connected, layers.max_pool2d],
            outputs_collections=collection,
        ):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [2, 2], scope="pool1")
            net = layers.conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = layers.max_pool2d(net, [2, 2], scope="pool2")
            for number, channels in ((3, 512), (4, 1024), (5, 1024)):
                net = layers.conv2d(net, channels, [3, 3], scope=f"conv{number}")
            net = layers.max_pool2d(net, [2, 2], scope="pool5")
            net = _logits(net, num_classes, is_training, dropout_keep_prob)
        end_points: dict[str, Any] = layers.convert_collection_to_dict(collection)
        if spatial_squeeze:
            net = tf.squeeze(net, [1, 2], name="fc8/squeezed")
            end_points[f"{entered.name}/fc8"] = net
        return net, end_points


def _logits(net: Any, num_classes: int, is_training: bool, keep_prob: float) -> Any:
    with layers.arg_scope(
        [layers.conv2d],
        weights_initializer=tf.truncated_normal_initializer(0.0, 0.005),
        biases_initializer=tf.constant_initializer(0.1),
    ):
        net = layers.conv2d(net, 3072, [6, 6], padding="VALID", scope="fc6")
        net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout6")
        net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
        net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout7")
        return layers.conv2d(
            net,
            num_classes,
            [1, 1],
            activation_fn=None,
            normalizer_fn=None,
            biases_initializer=tf.zeros_initializer(),
            scope="fc8",
        )
