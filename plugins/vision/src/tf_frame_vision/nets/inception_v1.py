"""Inception v1, or GoogLeNet (https://arxiv.org/abs/1409.4842).

As in slim, so that its published checkpoint loads, all convolutions but the logits are normalised,
there are no auxiliary classifiers, and 3 x 3 kernels replace the paper's 5 x 5.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import inception_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.inception_modules import (
    Conv,
    Layer,
    Mixed,
    Pool,
    Style,
    build_until,
)

_STYLE = Style(stddev=0.01)


def _mixed(
    scope: str,
    one: int,
    three: tuple[int, int],
    small: tuple[int, int],
    pool: int,
    *,
    small_conv: str = "Conv2d_0b_3x3",
) -> Mixed:
    """Describes a row of table 1 of the paper.

    Args:
      one: channels of the branch with a 1x1 convolution.
      three: of the 1x1 and the 3x3 convolution of the next.
      small: the same of the third, the paper's 5x5.
      pool: channels that the pooled input is projected to.
      small_conv: name of the second convolution of the third branch.
    """
    reduce = "Conv2d_0a_1x1"
    return Mixed(
        scope,
        (
            (Conv("Conv2d_0a_1x1", one),),
            (Conv(reduce, three[0]), Conv("Conv2d_0b_3x3", three[1])),
            (Conv(reduce, small[0]), Conv(small_conv, small[1])),
            (Pool("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", pool)),
        ),
    )


_ROOT: tuple[Layer, ...] = (
    Conv("Conv2d_1a_7x7", 64, 2),
    Pool("MaxPool_2a_3x3", 2),
    Conv("Conv2d_2b_1x1", 64),
    Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
)
_MODULES: tuple[Layer, ...] = (
    _mixed("Mixed_3b", 64, (96, 128), (16, 32), 32),
    _mixed("Mixed_3c", 128, (128, 192), (32, 96), 64),
    Pool("MaxPool_4a_3x3", 2),
    _mixed("Mixed_4b", 192, (96, 208), (16, 48), 64),
    _mixed("Mixed_4c", 160, (112, 224), (24, 64), 64),
    _mixed("Mixed_4d", 128, (128, 256), (24, 64), 64),
    _mixed("Mixed_4e", 112, (144, 288), (32, 64), 64),
    _mixed("Mixed_4f", 256, (160, 320), (32, 128), 128),
    Pool("MaxPool_5a_2x2", 2),
    # The published checkpoint has this name in this module.
    _mixed("Mixed_5b", 256, (160, 320), (32, 128), 128, small_conv="Conv2d_0a_3x3"),
    _mixed("Mixed_5c", 384, (192, 384), (48, 128), 128),
)


def inception_v1_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    include_root_block: bool = True,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """Builds the network up to an end point.

    Args:
      include_root_block: whether `inputs` are images; otherwise they go right into
        `Mixed_3b`, and the end points before it do not exist.
    """
    table = _ROOT + _MODULES if include_root_block else _MODULES
    with tf.variable_scope(scope, "InceptionV1", [inputs]):
        return build_until(inputs, table, final_endpoint, _STYLE)


@default_image_size(224)
def inception_v1(
    inputs: Any,
    num_classes: int | None = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      global_pool: whether the mean is taken over the whole last map; otherwise over
        windows of 7 x 7, which are cut to maps that are smaller (slim fails there).
    """
    with (
        tf.variable_scope(scope, "InceptionV1", [inputs], reuse=reuse) as network,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=network)
        with tf.variable_scope("Logits"):
            net = _pool(net, global_pool, end_points)
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = inception_utils.conv_logits(
                net, num_classes, spatial_squeeze, scope="Conv2d_0c_1x1"
            )
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _pool(net: Any, global_pool: bool, end_points: dict[str, Any]) -> Any:
    if global_pool:
        net = tf.reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
        end_points["global_pool"] = net
        return net
    kernel = inception_utils.kernel_within(net, [7, 7])
    net = layers.avg_pool2d(net, kernel, stride=1, scope="AvgPool_0a_7x7")
    end_points["AvgPool_0a_7x7"] = net
    return net


inception_v1_arg_scope = inception_utils.inception_arg_scope
