"""Describes Inception networks as tables of layers and of modules with parallel branches.

A table reads like those of the papers. It builds the network, and tells beforehand how small an
image may be. Scopes are slim's, and name the variables as in its checkpoints.

    MIXED_3B = Mixed(
        "Mixed_3b",
        (
            (Conv("Conv2d_0a_1x1", 64),),
            (Conv("Conv2d_0a_1x1", 96), Conv("Conv2d_0b_3x3", 128)),
            (Pool("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", 32)),
        ),
    )

The size of a kernel is read from the end of its scope.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError

SAME = "SAME"
VALID = "VALID"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Style:
    """Settings that the layers of one network share.

    Attributes:
      depth: channels of a layer, given those in the table.
      data_format: `NHWC` or `NCHW`; None: what the arg scope says.
      stddev: deviation of the initial weights (truncated normal) of layers that
        name none; None: the initializer of the arg scope.
    """

    depth: Callable[[int], int] = int
    data_format: str | None = None
    stddev: float | None = None

    @property
    def channel_axis(self) -> int:
        """The dimension along which branches are joined."""
        return 1 if self.data_format == "NCHW" else 3

    def format_options(self) -> dict[str, Any]:
        """Arguments of layers for the data format; none for the default format."""
        return {"data_format": self.data_format} if self.data_format else {}

    def weight_options(self, stddev: float | None) -> dict[str, Any]:
        """Arguments of layers for the initial weights; none for the layers' own default."""
        stddev = self.stddev if stddev is None else stddev
        return {} if stddev is None else {"weights_initializer": truncated_normal(stddev)}


class Layer(Protocol):
    """A row of a table."""

    @property
    def scope(self) -> str:
        """Variable scope; in the outermost table also the name of the end point."""

    def build(self, net: Any, style: Style) -> Any:
        """Returns the output for `net`, both `[batch, height, width, channels]`."""

    def size_after(self, size: int) -> int:
        """Returns the height of the output, below 1 for too small an input."""


@dataclasses.dataclass(frozen=True)
class Conv:
    """A convolution.

    Attributes:
      scope: variable scope.
      depth: output channels, before any multiplier.
      stride: step of the kernel.
      padding: `SAME` or `VALID`.
      stddev: deviation of the initial weights; None: the network's.
      kernel: height and width of the kernel where the scope says something else.
    """

    scope: str
    depth: int
    stride: int = 1
    padding: str = SAME
    _: dataclasses.KW_ONLY
    stddev: float | None = None
    kernel: tuple[int, int] | None = None

    @property
    def kernel_size(self) -> tuple[int, int]:
        """Height and width of the kernel."""
        return self.kernel or _kernel_in(self.scope)

    def build(self, net: Any, style: Style) -> Any:
        return layers.conv2d(
            net,
            style.depth(self.depth),
            list(self.kernel_size),
            stride=self.stride,
            padding=self.padding,
            scope=self.scope,
            **style.format_options(),
            **style.weight_options(self.stddev),
        )

    def size_after(self, size: int) -> int:
        return size_after(size, self.kernel_size[0], self.stride, self.padding)


@dataclasses.dataclass(frozen=True)
class Pool:
    """A pooling, of the maximum (`MaxPool_...`) or the mean (`AvgPool_...`).

    Attributes:
      scope: name scope.
      stride: step of the window.
      padding: `SAME` or `VALID`.
    """

    scope: str
    stride: int = 1
    padding: str = SAME

    def build(self, net: Any, style: Style) -> Any:
        pool = layers.max_pool2d if self.scope.startswith("MaxPool") else layers.avg_pool2d
        return pool(
            net,
            list(_kernel_in(self.scope)),
            stride=self.stride,
            padding=self.padding,
            scope=self.scope,
            **style.format_options(),
        )

    def size_after(self, size: int) -> int:
        return size_after(size, _kernel_in(self.scope)[0], self.stride, self.padding)


@dataclasses.dataclass(frozen=True)
class Fork:
    """Convolutions of the same input, joined along the channels."""

    convs: tuple[Conv, ...]

    @property
    def scope(self) -> str:
        """No scope: the convolutions are in the scope of the branch."""
        return ""

    def build(self, net: Any, style: Style) -> Any:
        return tf.concat([conv.build(net, style) for conv in self.convs], style.channel_axis)

    def size_after(self, size: int) -> int:
        return min(conv.size_after(size) for conv in self.convs)


@dataclasses.dataclass(frozen=True)
class Mixed:
    """An Inception module: branches `Branch_0`, `Branch_1`, ..., joined along the channels.

    Attributes:
      scope: variable scope.
      branches: the layers of each.
    """

    scope: str
    branches: tuple[tuple[Layer, ...], ...]

    def build(self, net: Any, style: Style) -> Any:
        with tf.variable_scope(self.scope):
            return build_branches(net, self.branches, style)

    def size_after(self, size: int) -> int:
        return min(size_after_all(size, branch) for branch in self.branches)


def build_until(
    inputs: Any,
    table: Sequence[Layer],
    final_endpoint: str,
    style: Style,
    *,
    unknown: str = "Unknown final endpoint %s",
) -> tuple[Any, dict[str, Any]]:
    """Builds a network up to one of its end points.

    Args:
      inputs: `[batch, height, width, channels]`, or as `style.data_format` says.
      table: its layers.
      final_endpoint: scope of the last one to build.
      unknown: text of the error for an end point that there is not.

    Returns:
      The output of the last layer, and all outputs by scope.

    Raises:
      ValueError: no layer has this scope.
      ConfigError: the image is too small for the layers.
    """
    names = [layer.scope for layer in table]
    if final_endpoint not in names:
        raise ValueError(f"{unknown % final_endpoint}; there are: {', '.join(names)}")
    used = table[: names.index(final_endpoint) + 1]
    _check_size(inputs, used, style)
    end_points = {}
    net = inputs
    for layer in used:
        net = layer.build(net, style)
        end_points[layer.scope] = net
    return net, end_points


def smallest_size(table: Sequence[Layer]) -> int:
    """Returns the smallest height and width of images that no layer reduces to nothing."""
    return next(size for size in itertools.count(1) if size_after_all(size, table) >= 1)


def _check_size(inputs: Any, table: Sequence[Layer], style: Style) -> None:
    spatial = slice(2, 4) if style.channel_axis == 1 else slice(1, 3)
    sizes = inputs.shape.as_list()[spatial]
    smallest = smallest_size(table)
    if any(size is not None and size < smallest for size in sizes):
        height, width = sizes
        raise ConfigError(
            f"images of {height} x {width} pixels are too small: nothing would be left of them "
            f"at {table[-1].scope}; it takes {smallest} x {smallest} at least"
        )


def build_branches(net: Any, branches: Sequence[Sequence[Layer]], style: Style) -> Any:
    """Builds `Branch_0`, `Branch_1`, ... in the current scope.

    Args:
      branches: the layers of each.

    Returns:
      `[batch, height, width, channels]`, the outputs joined along the channels.
    """
    outputs = []
    for index, branch in enumerate(branches):
        with tf.variable_scope(f"Branch_{index}"):
            outputs.append(build_row(net, branch, style))
    return tf.concat(outputs, style.channel_axis)


def build_row(net: Any, row: Sequence[Layer], style: Style) -> Any:
    """Builds layers one after the other and returns the output of the last."""
    return functools.reduce(lambda below, layer: layer.build(below, style), row, net)


def size_after(size: int, kernel: int, stride: int, padding: str) -> int:
    """Returns the height of a layer's output, below 1 for too small an input.

    Source: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2.
    """
    return -(-size // stride) if padding == SAME else (size - kernel) // stride + 1


def size_after_all(size: int, row: Sequence[Layer]) -> int:
    """Returns the height of the last output of layers in a row, below 1 for too small an input."""
    return functools.reduce(lambda below, layer: layer.size_after(below), row, size)


def truncated_normal(stddev: float) -> Any:
    """Returns an initializer around 0 that is cut at two deviations."""
    return tf.truncated_normal_initializer(0.0, stddev)


def _kernel_in(scope: str) -> tuple[int, int]:
    """Returns height and width at the end of a scope: (1, 7) of `Conv2d_0b_1x7`."""
    match = re.search(r"_(\d+)x(\d+)$", scope)
    if not match:
        raise ValueError(f"the scope {scope!r} does not end with the size of a kernel, as _3x3")
    return int(match[1]), int(match[2])
