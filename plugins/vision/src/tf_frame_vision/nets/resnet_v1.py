"""Residual networks of 50 to 200 layers, batch norm after each convolution.

He et al., Deep residual learning for image recognition, https://arxiv.org/abs/1512.03385.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.resnet_utils import Block

resnet_arg_scope = resnet_utils.resnet_arg_scope


@layers.add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
    use_bounded_activations: bool = False,
    unit_rate: int = 1,
) -> Any:
    """Builds a residual unit: three convolutions and a shortcut.

    Args:
      depth_bottleneck: channels of the first two convolutions.
      use_bounded_activations: whether to keep all values within -6 and 6, for
        quantised inference.
      unit_rate: factor on `rate`, as the unit's part of a multi-grid.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth]`.
    """
    activation = tf.nn.relu6 if use_bounded_activations else tf.nn.relu
    with tf.variable_scope(scope, "bottleneck_v1", [inputs]) as variable_scope:
        if depth == layers.last_dimension(inputs.shape, min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(
                inputs,
                depth,
                [1, 1],
                stride=stride,
                activation_fn=tf.nn.relu6 if use_bounded_activations else None,
                scope="shortcut",
            )
        residual = _residual(inputs, depth, depth_bottleneck, stride, rate * unit_rate)
        if use_bounded_activations:
            residual = tf.clip_by_value(residual, -6.0, 6.0)
        output = activation(shortcut + residual)
        return layers.collect_named_outputs(outputs_collections, variable_scope.name, output)


def _residual(inputs: Any, depth: int, depth_bottleneck: int, stride: int, rate: int) -> Any:
    net = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
    net = resnet_utils.conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
    return layers.conv2d(net, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")


@default_image_size(224)
def resnet_v1(
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: bool | None = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    spatial_squeeze: bool = True,
    store_non_strided_activations: bool = False,
    reuse: Any = None,
    scope: Any = None,
    root_block_fn: Callable[[Any], Any] = resnet_utils.root_block,
) -> tuple[Any, dict[str, Any]]:
    """Builds a residual network of the given blocks.

    To label each pixel, switch `global_pool` and `spatial_squeeze` off and use
    images of `n * 32 + 1` pixels: their corners then lie on corners of the
    feature map, `[(height - 1) / output_stride + 1, ...]`.

    Args:
      blocks: the blocks, as `resnet_v1_block` makes them.
      is_training: whether batch norm uses the statistics of the batch; with None
        an outer `arg_scope` of `layers.batch_norm` says so.
      output_stride: size of the image over size of the last feature map, a
        multiple of 4 with the root block; 32 (the product of all strides) when None.
      include_root_block: whether to begin with a convolution and a pooling.
      store_non_strided_activations: whether the end points of blocks are as
        before the block's stride.
      root_block_fn: builds the root block, with a stride of 4.

    Raises:
      ValueError: `output_stride` cannot be had.
    """
    with tf.variable_scope(scope, "resnet_v1", [inputs], reuse=reuse) as variable_scope:
        collection = f"{variable_scope.original_name_scope}_end_points"
        collected: list[Any] = [layers.conv2d, bottleneck, resnet_utils.stack_blocks_dense]
        with (
            layers.arg_scope(collected, outputs_collections=collection),
            _batch_norm_training(is_training),
        ):
            net = inputs
            if include_root_block:
                output_stride = resnet_utils.stride_after_root(output_stride)
                net = root_block_fn(net)
            net = resnet_utils.stack_blocks_dense(
                net, blocks, output_stride, store_non_strided_activations
            )
            end_points = layers.convert_collection_to_dict(collection)
            net = resnet_utils.classify(
                net,
                end_points,
                variable_scope,
                num_classes=num_classes,
                global_pool=global_pool,
                spatial_squeeze=spatial_squeeze,
            )
            return net, end_points


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Describes a block; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


def _batch_norm_training(is_training: bool | None) -> Any:
    if is_training is None:
        return contextlib.nullcontext()
    return layers.arg_scope([layers.batch_norm], is_training=is_training)


def _network(num_layers: int) -> Any:
    """Makes the function for a published number of layers."""
    name = f"resnet_v1_{num_layers}"

    @default_image_size(224)
    def network(
        inputs: Any,
        num_classes: int | None = None,
        is_training: bool | None = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        spatial_squeeze: bool = True,
        store_non_strided_activations: bool = False,
        min_base_depth: int = 8,
        depth_multiplier: float = 1,
        reuse: Any = None,
        scope: Any = name,
        multi_grid: Sequence[int] | None = None,
        num_blocks: int = 4,
    ) -> tuple[Any, dict[str, Any]]:
        """Builds one of the paper's networks; see `resnet_v1`.

        Args:
          multi_grid: see `resnet_utils.dilate_last_block`.
          num_blocks: number of blocks; their strides are 4, 8, 16 and 32.
        """
        depths = resnet_utils.scaled_depths(depth_multiplier, min_base_depth)
        blocks = resnet_utils.resnet_blocks(resnet_v1_block, num_layers, depths)
        outputs: tuple[Any, dict[str, Any]] = resnet_v1(
            inputs,
            resnet_utils.dilate_last_block(blocks, multi_grid)[:num_blocks],
            num_classes,
            is_training,
            global_pool=global_pool,
            output_stride=output_stride,
            spatial_squeeze=spatial_squeeze,
            store_non_strided_activations=store_non_strided_activations,
            reuse=reuse,
            scope=scope,
        )
        return outputs

    network.__name__ = network.__qualname__ = name
    return network


resnet_v1_50 = _network(50)
resnet_v1_101 = _network(101)
resnet_v1_152 = _network(152)
resnet_v1_200 = _network(200)
