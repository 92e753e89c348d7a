"""The blocks of the aligned Xception: entry flow, middle flow, exit flow.

Depths and strides are those of tensorflow/models, research/deeplab/core/xception.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame_vision.nets.resnet_utils import Block
from tf_frame_vision.nets.xception_module import xception_module

# Channels and stride of each block of the entry flow.
_SHORT_ENTRY = ((128, 2), (256, 2), (728, 2))
_LONG_ENTRY = ((128, 2), (256, 1), (256, 2), (728, 1), (728, 2))
# By number of layers: entry flow, units of the middle flow.
_FLOWS = {41: (_SHORT_ENTRY, 8), 65: (_SHORT_ENTRY, 16), 71: (_LONG_ENTRY, 16)}
_MIDDLE_DEPTHS = (728, 728, 728)
_EXIT_DEPTHS = ((728, 1024, 1024), (1536, 1536, 2048))
_MIN_DEPTH = 8


def xception_block(
    scope: str,
    depth_list: Sequence[int],
    skip_connection_type: str,
    activation_fn_in_separable_conv: bool,
    regularize_depthwise: bool,
    num_units: int,
    stride: int,
    kernel_size: int = 3,
    unit_rate_list: Sequence[int] | None = None,
) -> Block:
    """Describes a block of equal units, each with the stride.

    Args:
      depth_list, skip_connection_type, activation_fn_in_separable_conv,
        regularize_depthwise, stride, kernel_size, unit_rate_list: see `xception_module`.
    """
    unit = {
        "depth_list": depth_list,
        "skip_connection_type": skip_connection_type,
        "activation_fn_in_separable_conv": activation_fn_in_separable_conv,
        "regularize_depthwise": regularize_depthwise,
        "stride": stride,
        "kernel_size": kernel_size,
        "unit_rate_list": unit_rate_list,
    }
    return Block(scope, xception_module, [unit] * num_units)


def xception_blocks(
    num_layers: int,
    *,
    multi_grid: Sequence[int] | None = None,
    regularize_depthwise: bool = False,
    depth_multiplier: float = 1,
) -> list[Block]:
    """Describes the blocks of a published network.

    Args:
      num_layers: 41, 65 or 71.
      multi_grid: factors on the rates of the last three convolutions.
      regularize_depthwise: see `xception_module`.
      depth_multiplier: factor on the channels; at least 8 remain.
    """

    def block(
        scope: str,
        depths: Sequence[int],
        connection: str,
        *,
        stride: int = 1,
        units: int = 1,
        activated_inside: bool = False,
        rates: Sequence[int] | None = None,
    ) -> Block:
        return xception_block(
            scope,
            [max(int(depth * depth_multiplier), _MIN_DEPTH) for depth in depths],
            connection,
            activated_inside,
            regularize_depthwise,
            num_units=units,
            stride=stride,
            unit_rate_list=rates,
        )

    entry_flow, middle_units = _FLOWS[num_layers]
    entry = [
        block(f"entry_flow/block{index}", [depth] * 3, "conv", stride=stride)
        for index, (depth, stride) in enumerate(entry_flow, start=1)
    ]
    before, after = _EXIT_DEPTHS
    return [
        *entry,
        block("middle_flow/block1", _MIDDLE_DEPTHS, "sum", units=middle_units),
        block("exit_flow/block1", before, "conv", stride=2),
        block("exit_flow/block2", after, "none", activated_inside=True, rates=multi_grid),
    ]
