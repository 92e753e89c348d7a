"""DeepLab's residual networks: version 1 with three 3 x 3 convolutions for a root.

Names and defaults are those of tensorflow/models, research/deeplab/core/resnet_v1_beta.py, so that
DeepLab's published checkpoints load. The variable scope has the name of the plain network,
`resnet_v1_50`. Images have values from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils, resnet_v1
from tf_frame_vision.nets.image_size import default_image_size

resnet_arg_scope = resnet_utils.resnet_arg_scope


def root_block(inputs: Any) -> Any:
    """Convolves three times and pools, to a quarter of the size.

    Returns:
      `[batch, ceil(height / 4), ceil(width / 4), 128]`.
    """
    net = resnet_utils.conv2d_same(inputs, 64, 3, stride=2, scope="conv1_1")
    net = resnet_utils.conv2d_same(net, 64, 3, stride=1, scope="conv1_2")
    net = resnet_utils.conv2d_same(net, 128, 3, stride=1, scope="conv1_3")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")


def _network(num_layers: int) -> Any:
    """Makes the function for a published number of layers."""

    @default_image_size(224)
    def network(
        inputs: Any,
        num_classes: int | None = None,
        is_training: bool | None = None,
        global_pool: bool = False,
        output_stride: int | None = None,
        multi_grid: Sequence[int] | None = None,
        reuse: Any = None,
        scope: Any = f"resnet_v1_{num_layers}",
        min_base_depth: int = 8,
        depth_multiplier: float = 1,
    ) -> tuple[Any, dict[str, Any]]:
        """Builds one of DeepLab's networks; its logits keep height and width.

        Args:
          inputs: `[batch, height, width, 3]`, values from -1 to 1.
          multi_grid: three rates; see `resnet_utils.dilate_last_block`.
        """
        depths = resnet_utils.scaled_depths(depth_multiplier, min_base_depth)
        blocks = resnet_utils.resnet_blocks(resnet_v1.resnet_v1_block, num_layers, depths)
        outputs: tuple[Any, dict[str, Any]] = resnet_v1.resnet_v1(
            inputs,
            resnet_utils.dilate_last_block(blocks, multi_grid),
            num_classes,
            is_training,
            global_pool=global_pool,
            output_stride=output_stride,
            spatial_squeeze=False,
            reuse=reuse,
            scope=scope,
            root_block_fn=root_block,
        )
        return outputs

    network.__name__ = network.__qualname__ = f"resnet_v1_{num_layers}_beta"
    return network


resnet_v1_50_beta = _network(50)
resnet_v1_101_beta = _network(101)
