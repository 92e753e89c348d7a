"""LeNet for digits of 28 x 28 pixels, in slim's larger form.

The default of the model `classification`, as it trains quickly on a CPU. After LeCun et al.,
Gradient-based learning applied to document recognition, 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.image_size import check_image_size, default_image_size

# Two poolings leave one pixel of an image of this size.
_LEAST_SIZE = 4


@default_image_size(28)
def lenet(
    images: Any,
    num_classes: int | None = 10,
    is_training: bool = False,
    dropout_keep_prob: float = 0.5,
    prediction_fn: Callable[..., Any] = layers.softmax,
    scope: Any = "LeNet",
) -> tuple[Any, dict[str, Any]]:
    """Builds two convolutions with pooling, and two fully connected layers."""
    check_image_size(images, least=_LEAST_SIZE, network="lenet", advice="enlarge them")
    end_points: dict[str, Any] = {}
    with tf.variable_scope(scope, "LeNet", [images]):
        net = images
        for index, channels in ((1, 32), (2, 64)):
            net = layers.conv2d(net, channels, [5, 5], scope=f"conv{index}")
            end_points[f"conv{index}"] = net
            net = layers.max_pool2d(net, [2, 2], 2, scope=f"pool{index}")
            end_points[f"pool{index}"] = net
        net = end_points["Flatten"] = layers.flatten(net)
        net = end_points["fc3"] = layers.fully_connected(net, 1024, scope="fc3")
        if not num_classes:
            return net, end_points
        net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout3")
        end_points["dropout3"] = net
        logits = layers.fully_connected(net, num_classes, activation_fn=None, scope="fc4")
        end_points["Logits"] = logits
    end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def lenet_arg_scope(weight_decay: float = 0.0) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`."""
    with layers.arg_scope(
        [layers.conv2d, layers.fully_connected],
        weights_regularizer=layers.l2_regularizer(weight_decay),
        weights_initializer=tf.truncated_normal_initializer(stddev=0.1),
        activation_fn=tf.nn.relu,
    ) as scope:
        return scope
