"""The layers of MobileNet, version 1: what they are, and how they are built.

Source of names: slim, nets/mobilenet_v1.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tf_frame import layers
from tf_frame_classification.nets.conv_blocks import fixed_padding
from tf_frame_classification.nets.strides import Strides


class Conv(NamedTuple):
    """A convolution: kernel `[height, width]`, stride, output channels."""

    kernel: Sequence[int]
    stride: int
    depth: int


class DepthSepConv(NamedTuple):
    """A depthwise convolution, then a 1 x 1: kernel, stride, output channels."""

    kernel: Sequence[int]
    stride: int
    depth: int


# (output channels, stride): table 1 of the paper.
_DEPTHWISE_SEPARABLE = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1),
    (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip

MOBILENETV1_CONV_DEFS: list[Conv | DepthSepConv] = [
    Conv(kernel=[3, 3], stride=2, depth=32),
    *(DepthSepConv([3, 3], stride, depth) for depth, stride in _DEPTHWISE_SEPARABLE),
]


def layers_of(
    conv_defs: Sequence[Conv | DepthSepConv], output_stride: int | None, explicit: bool
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yields the name of each layer, and what builds it of its input and a rule for depths.

    Args:
      conv_defs: the definition.
      output_stride: limit of the product of strides; None for none.
      explicit: whether to pad by a fixed number of zeros.

    Raises:
      ValueError: a definition is of no known type.
    """
    strides = Strides(output_stride)
    for index, definition in enumerate(conv_defs):
        if not isinstance(definition, Conv | DepthSepConv):
            raise ValueError(
                f"Unknown convolution type {type(definition).__name__} for layer {index}"
            )
        stride, rate = strides.next(definition.stride)
        options: dict[str, Any] = {"stride": stride, "rate": rate, "padded": explicit}
        name = f"Conv2d_{index}"
        if isinstance(definition, Conv):
            yield name, functools.partial(_full, definition, scope=name, **options)
        else:
            scope = f"{name}_depthwise"
            yield scope, functools.partial(_depthwise, definition, scope=scope, **options)
            scope = f"{name}_pointwise"
            yield scope, functools.partial(_pointwise, definition, scope=scope)


def _full(
    definition: Conv, net: Any, depth: Any, *, rate: int, padded: bool, **options: Any
) -> Any:
    net = fixed_padding(net, definition.kernel, rate) if padded else net
    return layers.conv2d(net, depth(definition.depth), definition.kernel, rate=rate, **options)


def _depthwise(
    definition: DepthSepConv, net: Any, _: Any, *, rate: int, padded: bool, **options: Any
) -> Any:
    net = fixed_padding(net, definition.kernel, rate) if padded else net
    return layers.separable_conv2d(net, None, definition.kernel, rate=rate, **options)


def _pointwise(definition: DepthSepConv, net: Any, depth: Any, *, scope: str) -> Any:
    return layers.conv2d(net, depth(definition.depth), [1, 1], scope=scope)
