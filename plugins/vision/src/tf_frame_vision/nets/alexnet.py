"""AlexNet in its second form, without local normalisation; see `tf_frame_vision.nets`.

Krizhevsky, One weird trick for parallelizing convolutional neural networks,
https://arxiv.org/abs/1404.5997.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.fully_convolutional import Head
from tf_frame_vision.nets.image_size import check_image_size, default_image_size

# Of an image of this size conv1 and the poolings leave the 5 x 5 pixels that fc6 needs.
_LEAST_IMAGE_SIZE = 195
_BIAS = 0.1


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`."""
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            activation_fn=tf.nn.relu,
            biases_initializer=tf.constant_initializer(_BIAS),
            weights_regularizer=layers.l2_regularizer(weight_decay),
        ),
        layers.arg_scope([layers.conv2d], padding="SAME"),
        layers.arg_scope([layers.max_pool2d], padding="VALID") as scope,
    ):
        return scope


@default_image_size(224)
def alexnet_v2(
    inputs: Any,
    num_classes: int | None = 1000,
    is_training: bool = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds five convolutions, and three fully connected layers made as convolutions.

    Args:
      inputs: `[batch, height, width, 3]`, 224 x 224 pixels to classify; larger
        ones with `global_pool`, or without `spatial_squeeze` for a map of logits.
    """
    check_image_size(inputs, least=_LEAST_IMAGE_SIZE, network="alexnet_v2", advice="enlarge them")
    head = Head(
        kernel_size=5,
        padding="VALID",
        num_classes=num_classes,
        is_training=is_training,
        dropout_keep_prob=dropout_keep_prob,
        spatial_squeeze=spatial_squeeze,
        global_pool=global_pool,
        logits_arguments={"biases_initializer": tf.zeros_initializer()},
    )
    with tf.variable_scope(scope, "alexnet_v2", [inputs]) as variable_scope:
        collection = f"{variable_scope.original_name_scope}_end_points"
        with layers.arg_scope(
            [layers.conv2d, layers.fully_connected, layers.max_pool2d],
            outputs_collections=[collection],
        ):
            net = _convolutions(inputs)
            with layers.arg_scope(
                [layers.conv2d],
                weights_initializer=tf.truncated_normal_initializer(stddev=0.005),
                biases_initializer=tf.constant_initializer(_BIAS),
            ):
                return head(net, variable_scope, collection)


def _convolutions(inputs: Any) -> Any:
    net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
    net = layers.max_pool2d(net, [3, 3], 2, scope="pool1")
    net = layers.conv2d(net, 192, [5, 5], scope="conv2")
    net = layers.max_pool2d(net, [3, 3], 2, scope="pool2")
    for index, channels in ((3, 384), (4, 384), (5, 256)):
        net = layers.conv2d(net, channels, [3, 3], scope=f"conv{index}")
    return layers.max_pool2d(net, [3, 3], 2, scope="pool5")
