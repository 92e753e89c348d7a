"""Inception v3 (https://arxiv.org/abs/1512.00567), with slim's names, even misleading ones."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import inception_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.inception_modules import (
    VALID,
    Conv,
    Fork,
    Layer,
    Mixed,
    Pool,
    Style,
    build_until,
    truncated_normal,
)

_ROOT: tuple[Layer, ...] = (
    Conv("Conv2d_1a_3x3", 32, 2, VALID),
    Conv("Conv2d_2a_3x3", 32, 1, VALID),
    Conv("Conv2d_2b_3x3", 64),
    Pool("MaxPool_3a_3x3", 2, VALID),
    Conv("Conv2d_3b_1x1", 80, 1, VALID),
    Conv("Conv2d_4a_3x3", 192, 1, VALID),
    Pool("MaxPool_5a_3x3", 2, VALID),
)
_MAX_POOL = (Pool("MaxPool_1a_3x3", 2, VALID),)


def _projection(depth: int) -> tuple[Layer, ...]:
    return Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", depth)


def _mixed_5(
    scope: str, projection: int, five: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")
) -> Mixed:
    """Describes a module on maps of 35 x 35 (figure 5 of the paper, but with one 5x5 kernel).

    Args:
      projection: channels that the pooled input is projected to.
      five: names in the branch with the 5x5 kernel.
    """
    return Mixed(
        scope,
        (
            (Conv("Conv2d_0a_1x1", 64),),
            (Conv(five[0], 48), Conv(five[1], 64)),
            (Conv("Conv2d_0a_1x1", 64), *(Conv(f"Conv2d_0{x}_3x3", 96) for x in "bc")),
            _projection(projection),
        ),
    )


# The published checkpoint calls the 3x3 kernels of this module 1x1.
_MIXED_6A = Mixed(
    "Mixed_6a",
    (
        (Conv("Conv2d_1a_1x1", 384, 2, VALID, kernel=(3, 3)),),
        (
            Conv("Conv2d_0a_1x1", 64),
            Conv("Conv2d_0b_3x3", 96),
            Conv("Conv2d_1a_1x1", 96, 2, VALID, kernel=(3, 3)),
        ),
        _MAX_POOL,
    ),
)


def _mixed_6(scope: str, inner: int) -> Mixed:
    """Describes a module on maps of 17 x 17 (figure 6 of the paper).

    Args:
      inner: channels between the first and the last convolution of the long branches.
    """
    return Mixed(
        scope,
        (
            (Conv("Conv2d_0a_1x1", 192),),
            (
                Conv("Conv2d_0a_1x1", inner),
                Conv("Conv2d_0b_1x7", inner),
                Conv("Conv2d_0c_7x1", 192),
            ),
            (
                Conv("Conv2d_0a_1x1", inner),
                Conv("Conv2d_0b_7x1", inner),
                Conv("Conv2d_0c_1x7", inner),
                Conv("Conv2d_0d_7x1", inner),
                Conv("Conv2d_0e_1x7", 192),
            ),
            _projection(192),
        ),
    )


_MIXED_7A = Mixed(
    "Mixed_7a",
    (
        (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 320, 2, VALID)),
        (
            Conv("Conv2d_0a_1x1", 192),
            Conv("Conv2d_0b_1x7", 192),
            Conv("Conv2d_0c_7x1", 192),
            Conv("Conv2d_1a_3x3", 192, 2, VALID),
        ),
        _MAX_POOL,
    ),
)


def _mixed_7(scope: str, short_fork: tuple[str, str]) -> Mixed:
    """Describes a module on maps of 8 x 8 (figure 7 of the paper).

    Args:
      short_fork: names of the two last convolutions of the second branch.
    """
    return Mixed(
        scope,
        (
            (Conv("Conv2d_0a_1x1", 320),),
            (Conv("Conv2d_0a_1x1", 384), Fork(tuple(Conv(name, 384) for name in short_fork))),
            (
                Conv("Conv2d_0a_1x1", 448),
                Conv("Conv2d_0b_3x3", 384),
                Fork((Conv("Conv2d_0c_1x3", 384), Conv("Conv2d_0d_3x1", 384))),
            ),
            _projection(192),
        ),
    )


_MODULES: tuple[Layer, ...] = (
    _mixed_5("Mixed_5b", 32),
    # The published checkpoint has these names in this module.
    _mixed_5("Mixed_5c", 64, ("Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    _mixed_5("Mixed_5d", 64),
    _MIXED_6A,
    _mixed_6("Mixed_6b", 128),
    _mixed_6("Mixed_6c", 160),
    _mixed_6("Mixed_6d", 160),
    _mixed_6("Mixed_6e", 192),
    _MIXED_7A,
    _mixed_7("Mixed_7b", ("Conv2d_0b_1x3", "Conv2d_0b_3x1")),
    _mixed_7("Mixed_7c", ("Conv2d_0b_1x3", "Conv2d_0c_3x1")),
)


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds the network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75 for the
        whole network.
    """
    style = Style(depth=inception_utils.depth_function(depth_multiplier, min_depth))
    with tf.variable_scope(scope, "InceptionV3", [inputs]):
        return build_until(inputs, _ROOT + _MODULES, final_endpoint, style)


@default_image_size(299)
def inception_v3(
    inputs: Any,
    num_classes: int | None = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    create_aux_logits: bool = True,
    scope: Any = "InceptionV3",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75.
      create_aux_logits: whether to build the auxiliary classifier on `Mixed_6e`.
      global_pool: whether the mean is taken over the whole last map; otherwise over
        windows of 8 x 8, which are cut to maps that are smaller.
    """
    depth = inception_utils.depth_function(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV3", [inputs], reuse=reuse) as network,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, scope=network, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        if create_aux_logits and num_classes:
            end_points["AuxLogits"] = _aux_logits(
                end_points["Mixed_6e"], num_classes, depth, spatial_squeeze
            )
        with tf.variable_scope("Logits"):
            net = inception_utils.pool_windows(
                net, [8, 8], global_pool, end_points, global_name="GlobalPool"
            )
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
            end_points["PreLogits"] = net
            logits = inception_utils.conv_logits(
                net, num_classes, spatial_squeeze, scope="Conv2d_1c_1x1"
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _aux_logits(net: Any, num_classes: int, depth: Any, spatial_squeeze: bool) -> Any:
    """Builds the auxiliary logits.

    Both its kernels of 5 x 5 are cut to maps that are smaller; in slim only the
    second is, so that it fails for images below 107 x 107.
    """
    with tf.variable_scope("AuxLogits"):
        kernel = inception_utils.kernel_within(net, [5, 5])
        net = layers.avg_pool2d(net, kernel, stride=3, padding=VALID, scope="AvgPool_1a_5x5")
        net = Conv("Conv2d_1b_1x1", 128).build(net, Style(depth=depth))
        height, width = inception_utils.kernel_within(net, [5, 5])
        whole_map = Conv(f"Conv2d_2a_{height}x{width}", 768, 1, VALID, stddev=0.01)
        net = whole_map.build(net, Style(depth=depth))
        return inception_utils.conv_logits(
            net,
            num_classes,
            spatial_squeeze,
            scope="Conv2d_2b_1x1",
            weights_initializer=truncated_normal(0.001),
        )


inception_v3_arg_scope = inception_utils.inception_arg_scope
