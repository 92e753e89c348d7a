"""Residual networks of 50 to 200 layers, batch norm before each convolution.

He et al., Identity mappings in deep residual networks, https://arxiv.org/abs/1603.05027.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.resnet_utils import Block

resnet_arg_scope = resnet_utils.resnet_arg_scope

_PLAIN = {"normalizer_fn": None, "activation_fn": None}


@layers.add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Builds a residual unit that normalises and activates its inputs first.

    Args:
      depth_bottleneck: channels of the first two convolutions.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth]`.
    """
    with tf.variable_scope(scope, "bottleneck_v2", [inputs]) as variable_scope:
        preact = layers.batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if depth == layers.last_dimension(inputs.shape, min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(
                preact, depth, [1, 1], stride=stride, scope="shortcut", **_PLAIN
            )
        residual = _residual(preact, depth, depth_bottleneck, stride, rate)
        output = shortcut + residual
        return layers.collect_named_outputs(outputs_collections, variable_scope.name, output)


def _residual(preact: Any, depth: int, depth_bottleneck: int, stride: int, rate: int) -> Any:
    net = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
    net = resnet_utils.conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
    return layers.conv2d(net, depth, [1, 1], stride=1, scope="conv3", **_PLAIN)


@default_image_size(224)
def resnet_v2(
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: bool = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds a residual network of the given blocks; see `resnet_v1.resnet_v1`.

    Args:
      inputs: images; without the root block the outputs of a convolution without activation.
      blocks: the blocks, as `resnet_v2_block` makes them.
    """
    with tf.variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as variable_scope:
        collection = f"{variable_scope.original_name_scope}_end_points"
        collected: list[Any] = [layers.conv2d, bottleneck, resnet_utils.stack_blocks_dense]
        with (
            layers.arg_scope(collected, outputs_collections=collection),
            layers.arg_scope([layers.batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                output_stride = resnet_utils.stride_after_root(output_stride)
                with layers.arg_scope([layers.conv2d], **_PLAIN):
                    net = resnet_utils.root_block(net)
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            net = layers.batch_norm(net, activation_fn=tf.nn.relu, scope="postnorm")
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


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Describes a block; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


def _network(num_layers: int) -> Any:
    """Makes the function for a published number of layers."""
    name = f"resnet_v2_{num_layers}"

    @default_image_size(224)
    def network(
        inputs: Any,
        num_classes: int | None = None,
        is_training: bool = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        spatial_squeeze: bool = True,
        reuse: Any = None,
        scope: Any = name,
    ) -> tuple[Any, dict[str, Any]]:
        """Builds one of the papers' networks; arguments as in `resnet_v2`."""
        outputs: tuple[Any, dict[str, Any]] = resnet_v2(
            inputs,
            resnet_utils.resnet_blocks(resnet_v2_block, num_layers),
            num_classes,
            is_training=is_training,
            global_pool=global_pool,
            output_stride=output_stride,
            spatial_squeeze=spatial_squeeze,
            reuse=reuse,
            scope=scope,
        )
        return outputs

    network.__name__ = network.__qualname__ = name
    return network


resnet_v2_50 = _network(50)
resnet_v2_101 = _network(101)
resnet_v2_152 = _network(152)
resnet_v2_200 = _network(200)
