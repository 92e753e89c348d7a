"""End points of the feature maps of each stride, for the families of networks.

A stride is the size of the image over the size of the map.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

# Stride -> name of an end point.
EndPoints: TypeAlias = Mapping[int, str]


def by_stride(*names: str) -> EndPoints:
    """Returns the end points of the strides 2, 4, 8, 16 and 32."""
    return dict(zip((2, 4, 8, 16, 32), names, strict=True))


def resnet_maps(network: str, block2: int, block3: int) -> EndPoints:
    """Returns the last unit of each stride; the last unit of a block has the block's stride.

    Args:
      network: name of the function.
      block2, block3: units of these blocks; the first one has three.
    """
    unit = f"bottleneck_{network.split('_')[1]}"
    return by_stride(
        f"{network}/conv1",
        f"{network}/block1/unit_2/{unit}",
        f"{network}/block2/unit_{block2 - 1}/{unit}",
        f"{network}/block3/unit_{block3 - 1}/{unit}",
        f"{network}/block4",
    )


def resnet_decoder_maps(network: str, block3: int) -> EndPoints:
    """Returns the third convolution of the last unit of each stride, before the sum.

    Args:
      network: its variable scope.
      block3: units of this block; the first two have three and four.
    """
    units = {4: "block1/unit_2", 8: "block2/unit_3", 16: f"block3/unit_{block3 - 1}"}
    return {s: f"{network}/{unit}/bottleneck_v1/conv3" for s, unit in units.items()}


def resnet_blocks(network: str) -> EndPoints:
    """Returns the output of each block, where no block has lost a stride."""
    return {2 ** (block + 1): f"{network}/block{block}" for block in (1, 2, 3, 4)}


def xception_maps(network: str, block4: int, block8: int) -> EndPoints:
    """Returns the last block of each stride.

    Args:
      network: its variable scope.
      block4, block8: the last blocks of the entry flow with stride 4 and 8.
    """
    return by_stride(
        f"{network}/entry_flow/conv1_2",
        f"{network}/entry_flow/block{block4}",
        f"{network}/entry_flow/block{block8}",
        f"{network}/middle_flow/block1",
        f"{network}/exit_flow/block2",
    )


def xception_decoder_maps(network: str, block4: int, block8: int) -> EndPoints:
    """Returns the second convolution of the block that ends each stride.

    Args:
      network: its variable scope.
      block4, block8: the blocks of the entry flow that end stride 4 and 8.
    """
    blocks = {
        4: f"entry_flow/block{block4}",
        8: f"entry_flow/block{block8}",
        16: "exit_flow/block1",
    }
    convolution = "unit_1/xception_module/separable_conv2_pointwise"
    return {stride: f"{network}/{block}/{convolution}" for stride, block in blocks.items()}


def depthwise_outputs(*layers: int) -> EndPoints:
    """Returns the depthwise outputs, which are expanded, of layers with the strides 4, 8 and 16."""
    return {s: f"layer_{n}/depthwise_output" for s, n in zip((4, 8, 16), layers, strict=True)}
