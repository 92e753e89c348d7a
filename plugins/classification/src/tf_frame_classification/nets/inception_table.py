"""Builds an Inception network from the table of its layers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame_classification.nets.inception_modules import Layer, Style, size_after_all


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
      style: what they share.
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
    """The smallest height and width of images that leave something after every layer."""
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
