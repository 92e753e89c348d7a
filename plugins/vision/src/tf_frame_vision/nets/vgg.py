"""VGG with 11, 16 and 19 layers: configurations A, D and E.

Simonyan and Zisserman, Very deep convolutional networks for large-scale image recognition,
https://arxiv.org/abs/1409.1556, table 1.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.fully_convolutional import Head
from tf_frame_vision.nets.image_size import check_image_size, default_image_size

_CHANNELS = (64, 128, 256, 512, 512)
# Five poolings of 2 leave the 7 x 7 pixels that fc6 needs.
_IMAGE_SIZE = 224
_LEAST_WITH_SAME_PADDING = 32


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`."""
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            activation_fn=tf.nn.relu,
            weights_regularizer=layers.l2_regularizer(weight_decay),
            biases_initializer=tf.zeros_initializer(),
        ),
        layers.arg_scope([layers.conv2d], padding="SAME") as scope,
    ):
        return scope


def _network(name: str, repeats: tuple[int, ...]) -> Any:
    """Makes the function for one column of the paper's table.

    Args:
      name: name of the function, and its default scope.
      repeats: convolutions before each of the five poolings.
    """

    @default_image_size(_IMAGE_SIZE)
    def network(
        inputs: Any,
        num_classes: int | None = 1000,
        is_training: bool = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
        fc_conv_padding: str = "VALID",
        global_pool: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Builds a VGG network, its fully connected layers made as convolutions.

        Args:
          inputs: `[batch, height, width, 3]`, 224 x 224 pixels to classify; larger
            ones with `global_pool`, or without `spatial_squeeze` for a map of logits.
          fc_conv_padding: padding of fc6; "SAME" gives a map of 1/32 of the image's
            size, "VALID" one that is 6 smaller.
        """
        _check_size(inputs, fc_conv_padding, name)
        head = Head(
            kernel_size=7,
            padding=fc_conv_padding,
            num_classes=num_classes,
            is_training=is_training,
            dropout_keep_prob=dropout_keep_prob,
            spatial_squeeze=spatial_squeeze,
            global_pool=global_pool,
        )
        with tf.variable_scope(scope, name, [inputs]) as variable_scope:
            collection = f"{variable_scope.original_name_scope}_end_points"
            with layers.arg_scope(
                [layers.conv2d, layers.fully_connected, layers.max_pool2d],
                outputs_collections=collection,
            ):
                return head(_convolutions(inputs, repeats), variable_scope, collection)

    network.__name__ = network.__qualname__ = name
    return network


def _convolutions(net: Any, repeats: tuple[int, ...]) -> Any:
    for index, (count, channels) in enumerate(zip(repeats, _CHANNELS, strict=True), start=1):
        net = layers.repeat(net, count, layers.conv2d, channels, [3, 3], scope=f"conv{index}")
        net = layers.max_pool2d(net, [2, 2], scope=f"pool{index}")
    return net


def _check_size(inputs: Any, padding: str, network: str) -> None:
    least, advice = _IMAGE_SIZE, "enlarge them, or set fc_conv_padding to 'SAME'"
    if padding == "SAME":
        least, advice = _LEAST_WITH_SAME_PADDING, "enlarge them"
    check_image_size(inputs, least=least, network=network, advice=advice)


vgg_a = _network("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _network("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _network("vgg_19", (2, 2, 4, 4, 4))
