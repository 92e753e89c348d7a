"""Parts of both versions of residual networks: blocks, root, classifier, arg scope.

He et al., Deep residual learning for image recognition, https://arxiv.org/abs/1512.03385. As in
slim, the last unit of a block has its stride, not the first unit of the next block as in the paper:
the results are the same, and less has to be kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.strides import Strides

# Units of each block: table 1 of the paper; for 200 layers table 6 of
# https://arxiv.org/abs/1603.05027.
NUM_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
BASE_DEPTHS = (64, 128, 256, 512)
# Output channels of a unit for each channel inside of it.
EXPANSION = 4
_BLOCK_STRIDES = (2, 2, 2, 1)
_ROOT_STRIDE = 4


class Block(NamedTuple):
    """Residual units that work at one resolution.

    Attributes:
      scope: its variable scope.
      unit_fn: builds one unit: `unit_fn(net, rate=..., **arguments)`.
      args: the arguments of each unit: `depth`, `depth_bottleneck`, `stride`.
    """

    scope: str
    unit_fn: Callable[..., Any]
    args: list[dict[str, Any]]


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Takes one pixel of each `factor` x `factor`.

    Args:
      factor: pixels from one to the next; with 1 the inputs come back.
    """
    if factor == 1:
        return inputs
    return layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Any:
    """Convolves with a stride, with the result of `conv2d` without a stride and `subsample`.

    Padding "SAME" with a stride depends on whether the size is even; this does not.

    Args:
      rate: pixels between the taps of the kernel; 1 with a stride.
    """
    if stride == 1:
        return layers.conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = (kernel_size - 1) * rate
    border = [total // 2, total - total // 2]
    return layers.conv2d(
        tf.pad(inputs, [[0, 0], border, border, [0, 0]]),
        num_outputs,
        kernel_size,
        stride=stride,
        rate=rate,
        padding="VALID",
        scope=scope,
    )


@layers.add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Block],
    output_stride: int | None = None,
    store_non_strided_activations: bool = False,
    outputs_collections: Any = None,
) -> Any:
    """Builds blocks one after the other, at a stride that never exceeds `output_stride`.

    Once it is reached, further strides become dilations of all later kernels, so
    that each output is what the strided network would have there.

    Args:
      blocks: the blocks.
      output_stride: size of `net` over size of the result; the product of all
        strides when None.
      store_non_strided_activations: whether to collect each block's outputs
        before its stride, at four times the work in its last unit.
      outputs_collections: collections for the blocks' outputs.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth]`.

    Raises:
      ValueError: the strides have no product `output_stride` at any unit.
    """
    strides = Strides(output_stride)
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as scope:
            moved_stride = 1
            for index, unit in enumerate(block.args, start=1):
                if store_non_strided_activations and index == len(block.args):
                    moved_stride = unit.get("stride", 1)
                    unit = {**unit, "stride": 1}
                with tf.variable_scope(f"unit_{index}", values=[net]):
                    taken, rate = strides.next(unit.get("stride", 1))
                    net = block.unit_fn(net, rate=rate, **{**unit, "stride": taken})
            net = layers.collect_named_outputs(outputs_collections, scope.name, net)
            net = subsample(net, strides.next(moved_stride)[0])
    strides.check_reached()
    return net


def bottleneck_block(
    unit_fn: Callable[..., Any], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """Describes a block; its last unit has the stride.

    Args:
      unit_fn: builds one unit.
      base_depth: channels inside the units; they put out four times as many.
      stride: stride of the last unit.
    """
    depths = {"depth": base_depth * EXPANSION, "depth_bottleneck": base_depth}
    strides = [1] * (num_units - 1) + [stride]
    return Block(scope, unit_fn, [{**depths, "stride": unit_stride} for unit_stride in strides])


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


def dilate_last_block(blocks: list[Block], multi_grid: Sequence[int] | None) -> list[Block]:
    """Gives each unit of the last block a dilation of its own: DeepLab's multi-grid.

    Source: section 3.2.1 of https://arxiv.org/abs/1706.05587.

    Args:
      blocks: the blocks; their units take `unit_rate`.
      multi_grid: factor on the dilation of each unit; None: all are 1.

    Raises:
      ValueError: the last block has another number of units.
    """
    if multi_grid is None:
        return blocks
    *others, last = blocks
    if len(multi_grid) != len(last.args):
        raise ValueError(
            f"multi_grid {tuple(multi_grid)} has {len(multi_grid)} rates; the last block has "
            f"{len(last.args)} units"
        )
    args = [{**unit, "unit_rate": rate} for unit, rate in zip(last.args, multi_grid, strict=True)]
    return [*others, last._replace(args=args)]


def scaled_depths(depth_multiplier: float, min_base_depth: int) -> list[int]:
    """Returns the channels inside the units of each block.

    Args:
      depth_multiplier: factor on those of the paper.
      min_base_depth: the least number.
    """
    return [max(int(depth * depth_multiplier), min_base_depth) for depth in BASE_DEPTHS]


def root_block(inputs: Any, depth: int = 64) -> Any:
    """Convolves and pools to a quarter of the size: `conv1` and `pool1`."""
    net = conv2d_same(inputs, depth, 7, stride=2, scope="conv1")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")


def stride_after_root(output_stride: int | None, root_stride: int = _ROOT_STRIDE) -> int | None:
    """Returns the stride of the blocks for an output stride of the whole network.

    Args:
      output_stride: of the whole network; None: no limit.
      root_stride: of the layers before the blocks.

    Raises:
      ValueError: the output stride is no multiple of the root's.
    """
    if output_stride is None:
        return None
    if output_stride % root_stride != 0:
        raise ValueError(
            f"The output_stride needs to be a multiple of {root_stride}. It is {output_stride}."
        )
    return output_stride // root_stride


def classify(
    net: Any,
    end_points: dict[str, Any],
    scope: Any,
    *,
    num_classes: int | None,
    global_pool: bool,
    spatial_squeeze: bool,
    keep_prob: float = 1.0,
) -> Any:
    """Averages over the image and adds logits; both become end points.

    Args:
      end_points: the end points by name.
      scope: the network's variable scope.
      num_classes: number of classes; without (None or 0) there are no logits.
      global_pool: whether to average.
      spatial_squeeze: whether to remove height and width from logits; must be 1.
      keep_prob: share of the features before the logits that dropout keeps in training.

    Returns:
      Logits, or features.
    """
    if global_pool:
        net = tf.reduce_mean(net, [1, 2], keepdims=True, name="pool5")
        end_points["global_pool"] = net
    if not num_classes:
        return net
    if keep_prob < 1.0:
        net = layers.dropout(net, keep_prob, scope="prelogits_dropout")
    net = layers.conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits"
    )
    end_points[f"{scope.name}/logits"] = net
    if spatial_squeeze:
        net = tf.squeeze(net, [1, 2], name="SpatialSqueeze")
        end_points[f"{scope.name}/spatial_squeeze"] = net
    end_points["predictions"] = layers.softmax(net, scope="predictions")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    use_batch_norm: bool = True,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`.

    The defaults are those of https://github.com/KaimingHe/deep-residual-networks;
    training from scratch in few steps needs a smaller `batch_norm_decay`.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": batch_norm_updates_collections,
    }
    with (
        layers.arg_scope(
            [layers.conv2d],
            weights_regularizer=layers.l2_regularizer(weight_decay),
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=activation_fn,
            normalizer_fn=layers.batch_norm if use_batch_norm else None,
            normalizer_params=normalization,
        ),
        layers.arg_scope([layers.batch_norm], **normalization),
        # The authors' own code pads pool1 "VALID"; "SAME" keeps features aligned.
        layers.arg_scope([layers.max_pool2d], padding="SAME") as scope,
    ):
        return scope
