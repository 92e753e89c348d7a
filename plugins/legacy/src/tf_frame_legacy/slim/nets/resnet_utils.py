"""The parts of residual networks, with the arguments of `tf.contrib.slim.nets.resnet_utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_frame.layers import add_arg_scope
from tf_frame_vision.nets import resnet_utils
from tf_frame_vision.nets.resnet_utils import (
    Block as Block,
    conv2d_same as conv2d_same,
    resnet_arg_scope as resnet_arg_scope,
    subsample as subsample,
)


@add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Block],
    output_stride: int | None = None,
    outputs_collections: Any = None,
) -> Any:
    """Builds blocks one after the other; see `tf_frame_vision.nets.resnet_utils`."""
    return resnet_utils.stack_blocks_dense(
        net, blocks, output_stride, outputs_collections=outputs_collections
    )


def networks_of_blocks(network: Any) -> Any:
    """Returns the function `resnet_v1` or `resnet_v2`, whose logits keep height and width."""

    def resnet(
        inputs: Any,
        blocks: Sequence[Block],
        num_classes: int | None = None,
        is_training: bool | None = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        include_root_block: bool = True,
        reuse: Any = None,
        scope: Any = None,
    ) -> Any:
        return network(
            inputs,
            blocks,
            num_classes,
            is_training,
            global_pool,
            output_stride,
            include_root_block,
            spatial_squeeze=False,
            reuse=reuse,
            scope=scope,
        )

    return _named(resnet, network)


def network_of_layers(network: Any) -> Any:
    """Returns a function such as `resnet_v1_50`, whose logits keep height and width."""

    def resnet(
        inputs: Any,
        num_classes: int | None = None,
        is_training: bool | None = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: Any = network.__name__,
    ) -> Any:
        return network(
            inputs,
            num_classes,
            is_training,
            global_pool,
            output_stride,
            spatial_squeeze=False,
            reuse=reuse,
            scope=scope,
        )

    return _named(resnet, network)


def _named(function: Any, network: Any) -> Any:
    function.__name__ = function.__qualname__ = network.__name__
    function.__doc__ = f"Builds `{network.__name__}`; returns logits or features, and end points."
    function.default_image_size = network.default_image_size
    return function
