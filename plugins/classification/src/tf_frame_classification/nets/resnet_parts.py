"""The published networks' blocks, and what stands before and behind them.

He et al., Deep residual learning for image recognition,
https://arxiv.org/abs/1512.03385. Source of names and behaviour:
tensorflow/models, research/slim/nets/resnet_v1.py and resnet_v2.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_classification.nets.resnet_utils import Block, conv2d_same

# Units of each block: table 1 of the paper; for 200 layers table 6 of
# https://arxiv.org/abs/1603.05027.
NUM_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
BASE_DEPTHS = (64, 128, 256, 512)
# Output channels of a unit for each channel inside of it.
EXPANSION = 4
_BLOCK_STRIDES = (2, 2, 2, 1)
_ROOT_STRIDE = 4


def bottleneck_block(
    unit_fn: Callable[..., Any], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """Describes a block whose last unit has the stride.

    Args:
      unit_fn: builds one unit.
      scope: variable scope of the block.
      base_depth: channels inside the units; they put out four times as many.
      num_units: number of units.
      stride: stride of the last unit.
    """
    depths = {"depth": base_depth * EXPANSION, "depth_bottleneck": base_depth}
    strides = [1] * (num_units - 1) + [stride]
    return Block(scope, unit_fn, [{**depths, "stride": each} for each in strides])


def resnet_blocks(
    block: Callable[..., Block], num_layers: int, base_depths: Sequence[int] = BASE_DEPTHS
) -> list[Block]:
    """Describes the four blocks of a published network.

    Args:
      block: makes one of `scope`, `base_depth`, `num_units` and `stride`.
      num_layers: 50, 101, 152 or 200.
      base_depths: channels inside the units of each block.
    """
    plan = zip(base_depths, NUM_UNITS[num_layers], _BLOCK_STRIDES, strict=True)
    return [
        block(f"block{index}", base_depth=depth, num_units=units, stride=stride)
        for index, (depth, units, stride) in enumerate(plan, start=1)
    ]


def root_block(inputs: Any) -> Any:
    """Convolves and pools to a quarter of the size: `conv1` and `pool1`.

    Args:
      inputs: `[batch, height, width, channels]`.
    """
    net = conv2d_same(inputs, 64, 7, stride=2, scope="conv1")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")


def stride_after_root(output_stride: int | None) -> int | None:
    """Returns what `output_stride` leaves for the blocks.

    Raises:
      ValueError: it is no multiple of 4.
    """
    if output_stride is None:
        return None
    if output_stride % _ROOT_STRIDE != 0:
        raise ValueError(f"The output_stride needs to be a multiple of 4. It is {output_stride}.")
    return output_stride // _ROOT_STRIDE


def classify(
    net: Any,
    end_points: dict[str, Any],
    scope: Any,
    *,
    num_classes: int | None,
    global_pool: bool,
    spatial_squeeze: bool,
) -> Any:
    """Averages over the image and adds logits, and notes what it makes in `end_points`.

    Args:
      net: `[batch, height, width, channels]`.
      end_points: the end points by name.
      scope: the network's variable scope.
      num_classes: number of classes; without (None or 0) there are no logits.
      global_pool: whether to average.
      spatial_squeeze: whether to remove height and width from logits; must be 1.

    Returns:
      Logits, or features.
    """
    if global_pool:
        net = tf.reduce_mean(net, [1, 2], keepdims=True, name="pool5")
        end_points["global_pool"] = net
    if not num_classes:
        return net
    net = layers.conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits"
    )
    end_points[f"{scope.name}/logits"] = net
    if spatial_squeeze:
        net = tf.squeeze(net, [1, 2], name="SpatialSqueeze")
        end_points[f"{scope.name}/spatial_squeeze"] = net
    end_points["predictions"] = layers.softmax(net, scope="predictions")
    return net
