"""Inception v2 (https://arxiv.org/abs/1502.03167).

As in slim, so that its published checkpoint loads, the first layer is a separable convolution by
default.
"""

from __future__ import annotations

import dataclasses
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
    size_after,
    truncated_normal,
)

# Deviations of the initial weights (slim, inception_v2.py).
_ROOT_STDDEV = 1.0
_REDUCE_STDDEV = 0.09
_PROJECT_STDDEV = 0.1


@dataclasses.dataclass(frozen=True)
class _SeparableRoot:
    """The first layer: 7x7 over each colour, then 1x1, with a step of 2."""

    scope: str = "Conv2d_1a_7x7"
    depth: int = 64

    def build(self, net: Any, style: Style) -> Any:
        depth = style.depth(self.depth)
        return layers.separable_conv2d(
            net,
            depth,
            [7, 7],
            # More intermediate channels than output channels would be wasted on 3 colours.
            depth_multiplier=min(int(depth / 3), 8),
            stride=2,
            padding="SAME",
            weights_initializer=truncated_normal(_ROOT_STDDEV),
            scope=self.scope,
        )

    def size_after(self, size: int) -> int:
        return size_after(size, 7, 2, "SAME")


def _reduce(depth: int) -> Conv:
    return Conv("Conv2d_0a_1x1", depth, stddev=_REDUCE_STDDEV)


def _mixed(
    scope: str,
    one: int,
    three: tuple[int, int],
    double: tuple[int, int],
    projection: int,
    *,
    pool: str = "AvgPool_0a_3x3",
) -> Mixed:
    """Describes a module that keeps the size of the map.

    Args:
      one: channels of the branch with a 1x1 convolution.
      three: of the 1x1 and the 3x3 convolution of the next.
      double: of the 1x1 and of both 3x3 convolutions of the third.
      projection: channels that the pooled input is projected to.
      pool: name of the pooling.
    """
    return Mixed(
        scope,
        (
            (Conv("Conv2d_0a_1x1", one),),
            (_reduce(three[0]), Conv("Conv2d_0b_3x3", three[1])),
            (_reduce(double[0]), *(Conv(f"Conv2d_0{x}_3x3", double[1]) for x in "bc")),
            (Pool(pool), Conv("Conv2d_0b_1x1", projection, stddev=_PROJECT_STDDEV)),
        ),
    )


def _reduction(scope: str, three: tuple[int, int], double: tuple[int, int]) -> Mixed:
    """Describes a module that halves the map; see `_mixed`."""
    return Mixed(
        scope,
        (
            (_reduce(three[0]), Conv("Conv2d_1a_3x3", three[1], 2)),
            (
                _reduce(double[0]),
                Conv("Conv2d_0b_3x3", double[1]),
                Conv("Conv2d_1a_3x3", double[1], 2),
            ),
            (Pool("MaxPool_1a_3x3", 2),),
        ),
    )


_AFTER_ROOT: tuple[Layer, ...] = (
    Pool("MaxPool_2a_3x3", 2),
    Conv("Conv2d_2b_1x1", 64, stddev=0.1),
    Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
)
_MODULES: tuple[Layer, ...] = (
    _mixed("Mixed_3b", 64, (64, 64), (64, 96), 32),
    _mixed("Mixed_3c", 64, (64, 96), (64, 96), 64),
    _reduction("Mixed_4a", (128, 160), (64, 96)),
    _mixed("Mixed_4b", 224, (64, 96), (96, 128), 128),
    _mixed("Mixed_4c", 192, (96, 128), (96, 128), 128),
    _mixed("Mixed_4d", 160, (128, 160), (128, 160), 96),
    _mixed("Mixed_4e", 96, (128, 192), (160, 192), 96),
    _reduction("Mixed_5a", (128, 192), (192, 256)),
    _mixed("Mixed_5b", 352, (192, 320), (160, 224), 128),
    _mixed("Mixed_5c", 352, (192, 320), (192, 224), 128, pool="MaxPool_0a_3x3"),
)


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    use_separable_conv: bool = True,
    data_format: str = "NHWC",
    include_root_block: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds the network up to an end point.

    Args:
      inputs: `[batch, height, width, channels]`, or as `data_format` says.
      use_separable_conv: whether the first layer is a separable convolution.
      data_format: `NHWC`, or `NCHW` without the separable convolution.
      include_root_block: whether `inputs` are images; otherwise they go right into
        `Mixed_3b`, and the end points before it do not exist.
    """
    depth = inception_utils.depth_function(depth_multiplier, min_depth)
    _check_format(data_format, use_separable_conv)
    table = _MODULES
    if include_root_block:
        table = (_root(use_separable_conv), *_AFTER_ROOT, *_MODULES)
    with tf.variable_scope(scope, "InceptionV2", [inputs]):
        return build_until(
            inputs, table, final_endpoint, Style(depth=depth, data_format=data_format)
        )


def _root(use_separable_conv: bool) -> Layer:
    if use_separable_conv:
        return _SeparableRoot()
    return Conv("Conv2d_1a_7x7", 64, 2, stddev=_ROOT_STDDEV)


def _check_format(data_format: str, use_separable_conv: bool) -> None:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format must be either NHWC or NCHW.")
    if data_format == "NCHW" and use_separable_conv:
        raise ValueError(
            "separable convolution only supports NHWC layout. NCHW data format can "
            "only be used when use_separable_conv is False."
        )


@default_image_size(224)
def inception_v2(
    inputs: Any,
    num_classes: int | None = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      global_pool: whether the mean is taken over the whole last map; otherwise over
        windows of 7 x 7, which are cut to maps that are smaller.
    """
    with (
        tf.variable_scope(scope, "InceptionV2", [inputs], reuse=reuse) as network,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, scope=network, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with tf.variable_scope("Logits"):
            net = inception_utils.pool_windows(net, [7, 7], global_pool, end_points)
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
            logits = inception_utils.conv_logits(
                net, num_classes, spatial_squeeze, scope="Conv2d_1c_1x1"
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2_arg_scope = inception_utils.inception_arg_scope
