"""Residual network of 18 layers, for training from scratch on a CPU.

He et al., Deep residual learning for image recognition, https://arxiv.org/abs/1512.03385, table 1:
units of two 3 x 3 convolutions. As there, the first unit of a block has its stride, so that the
output of a block is the last feature map of its stride. Slim has no such network, and DeepLab's
has its strides elsewhere; names of variables follow those of slim's `resnet_v1_50`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.resnet_utils import Block, conv2d_same, subsample
from tf_frame_vision.nets.resnet_v1 import resnet_v1

resnet_arg_scope = resnet_utils.resnet_arg_scope
_UNITS = 2
# Of fewer channels than this, the gradient of a 1 x 1 kernel with a stride writes beyond its memory
# (oneDNN in TensorFlow 2.21). Taking the pixels before the convolution has the same result.
_LEAST_STRIDED = 16


def basic(inputs: Any, depth: int, stride: int, own_stride: int, rate: int = 1) -> Any:
    """Builds a residual unit: two convolutions and a shortcut.

    Args:
      own_stride: the stride that the unit has unless it is dilated instead.
      rate: pixels between the taps of the first kernel; where the unit has lost its stride, those
        of the second one are as many times further apart.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth]`.
    """
    with tf.variable_scope("basic_v1", values=[inputs]):
        shortcut = _shortcut(inputs, depth, stride)
        residual = conv2d_same(inputs, depth, 3, stride, rate=rate, scope="conv1")
        with layers.arg_scope([layers.conv2d], activation_fn=None):
            rate *= own_stride // stride
            residual = conv2d_same(residual, depth, 3, 1, rate=rate, scope="conv2")
        return tf.nn.relu(shortcut + residual)


def _shortcut(inputs: Any, depth: int, stride: int) -> Any:
    channels = layers.last_dimension(inputs.shape, min_rank=4)
    if depth == channels:
        return subsample(inputs, stride, "shortcut")
    if channels < _LEAST_STRIDED:
        inputs, stride = subsample(inputs, stride), 1
    return layers.conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")


@default_image_size(224)
def resnet_v1_18(
    inputs: Any,
    num_classes: int | None = None,
    is_training: bool | None = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    num_blocks: int = 4,
    spatial_squeeze: bool = True,
    min_base_depth: int = 8,
    depth_multiplier: float = 1,
    reuse: Any = None,
    scope: Any = "resnet_v1_18",
) -> tuple[Any, dict[str, Any]]:
    """Builds the network; see `resnet_v1.resnet_v1`.

    Args:
      num_blocks: number of blocks; their strides are 4, 8, 16 and 32.
      depth_multiplier: factor on the channels, also those of the first convolution.
    """
    depths = resnet_utils.scaled_depths(depth_multiplier, min_base_depth)
    outputs: tuple[Any, dict[str, Any]] = resnet_v1(
        inputs,
        _blocks(depths[:num_blocks]),
        num_classes,
        is_training,
        global_pool=global_pool,
        output_stride=output_stride,
        spatial_squeeze=spatial_squeeze,
        reuse=reuse,
        scope=scope,
        root_block_fn=functools.partial(resnet_utils.root_block, depth=depths[0]),
    )
    return outputs


def _blocks(depths: Sequence[int]) -> list[Block]:
    strides = [1, *([2] * (len(depths) - 1))]
    return [
        Block(
            f"block{index}",
            basic,
            [
                {"depth": depth, "stride": unit_stride, "own_stride": unit_stride}
                for unit_stride in (stride, *([1] * (_UNITS - 1)))
            ],
        )
        for index, (depth, stride) in enumerate(zip(depths, strides, strict=True), start=1)
    ]
