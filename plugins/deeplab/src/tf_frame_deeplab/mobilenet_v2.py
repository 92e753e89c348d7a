"""MobileNetV2 (https://arxiv.org/abs/1801.04381) with slim's variable names.

Only the part that DeepLab uses: `MobilenetV2/Conv` and `expanded_conv` to
`expanded_conv_16`, whose output is slim's end point `layer_18`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.blocks import Blocks

# (output channels, blocks, stride of the first block): table 2 of the paper.
_STAGES = (
    (16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1),
)  # fmt: skip
_STEM_CHANNELS = 32
_EXPANSION = 6


def mobilenet_v2(
    images: Any, *, blocks: Blocks, depth_multiplier: float, output_stride: int
) -> dict[str, Any]:
    """Builds the feature extractor.

    Args:
      images: `[batch, height, width, 3]`, values from -1 to 1.
      blocks: makes the layers; its activation should be `tf.nn.relu6`.
      depth_multiplier: factor on all numbers of channels.
      output_stride: size of the image over size of the last feature map.
        Where a stride would exceed it, later kernels are dilated instead.

    Returns:
      End points: `layer_1` to `layer_18` and `layer_<n>/depthwise_output`, each
      `[batch, ceil(height / stride), ceil(width / stride), channels]`.
    """
    end_points = {}
    with tf.variable_scope("MobilenetV2", values=[images]):
        channels = make_divisible(_STEM_CHANNELS * depth_multiplier)
        net = blocks.conv(images, channels, 3, stride=2, initializer=_initializer(), scope="Conv")
        end_points["layer_1"] = net
        for index, (base, stride, rate) in enumerate(_plan(output_stride)):
            filters = make_divisible(base * depth_multiplier)
            net, depthwise = _expanded_conv(net, filters, stride, rate, index, blocks)
            end_points[f"layer_{index + 2}/depthwise_output"] = depthwise
            end_points[f"layer_{index + 2}"] = net
    return end_points


def make_divisible(value: float, divisor: int = 8) -> int:
    """Rounds a number of channels to a multiple, at least 0.9 of what it was.

    Args:
      value: the number of channels.
      divisor: the multiple, and the smallest result.
    """
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def _plan(output_stride: int) -> Iterator[tuple[int, int, int]]:
    """Yields (output channels, stride, rate) of every block."""
    current, rate = 2, 1
    for channels, count, stage_stride in _STAGES:
        for index in range(count):
            stride = stage_stride if index == 0 else 1
            if current * stride > output_stride:
                # The block that loses its stride still sees undilated features.
                yield channels, 1, rate
                rate *= stride
            else:
                yield channels, stride, rate
                current *= stride


def _expanded_conv(
    inputs: Any, filters: int, stride: int, rate: int, index: int, blocks: Blocks
) -> tuple[Any, Any]:
    channels = inputs.shape.as_list()[-1]
    with tf.variable_scope(f"expanded_conv_{index}" if index else "expanded_conv"):
        net = inputs
        if index:
            expanded = channels * _EXPANSION
            net = blocks.conv(net, expanded, 1, initializer=_initializer(), scope="expand")
        depthwise = blocks.depthwise(
            net, stride=stride, rate=rate, initializer=_initializer(), scope="depthwise"
        )
        net = blocks.conv(
            depthwise, filters, 1, linear=True, initializer=_initializer(), scope="project"
        )
        if stride == 1 and channels == filters:
            net += inputs
    return net, depthwise


def _initializer() -> Any:
    return tf.truncated_normal_initializer(stddev=0.09)
