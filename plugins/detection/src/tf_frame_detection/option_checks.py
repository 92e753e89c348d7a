"""Checks of the options of the model `detection`, beyond the bounds that each has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame_detection.options import SSD, SSD_STRIDES

_NUM_FACTORS = 4


def check(params: Any) -> None:
    """Checks options against each other.

    Raises:
      ConfigError: strides that are not rising powers of 2, a number of factors or scales that does
        not fit, or bounds in the wrong order.
    """
    _check_strides(params.strides, params.top_stride)
    _check_anchors(params)
    if params.unmatched_threshold is not None:
        _check_order(params, "unmatched_threshold", "matched_threshold")


def _check_strides(strides: Sequence[int], top_stride: int | None) -> None:
    if not strides or list(strides) != [strides[0] * 2**i for i in range(len(strides))]:
        raise ConfigError(
            f"--model.strides {','.join(map(str, strides))}: give one or more, each twice the one"
            " before, such as 8,16,32"
        )
    if strides[0] not in (4, 8, 16, 32):
        raise ConfigError(f"--model.strides begins with {strides[0]}; begin with 4, 8, 16 or 32")
    if top_stride is not None and top_stride < strides[0]:
        raise ConfigError(
            f"--model.top_stride {top_stride} is less than the first of --model.strides,"
            f" {strides[0]}; the pyramid cannot begin below its maps"
        )


def _check_anchors(params: Any) -> None:
    factors, scales = params.box_scale_factors, params.anchor_scales
    if len(factors) != _NUM_FACTORS:
        raise ConfigError(
            f"--model.box_scale_factors has {len(factors)} numbers; give {_NUM_FACTORS}: row,"
            " column, height, width"
        )
    if params.name != SSD:
        return
    if scales and len(scales) != params.num_maps:
        raise ConfigError(
            f"--model.anchor_scales has {len(scales)} numbers, but there are {params.num_maps} maps"
            " (--model.num_maps); give one for each map"
        )
    if not scales:
        _check_order(params, "min_scale", "max_scale")


def _check_order(params: Any, low: str, high: str) -> None:
    least, most = getattr(params, low), getattr(params, high)
    if least > most:
        raise ConfigError(
            f"--model.{low} {least:g} is above --model.{high} {most:g}; choose one at or below it"
        )


def check_image_size(params: Any, size: Sequence[int | None]) -> None:
    """Checks that no feature map halves one of a single cell.

    Args:
      size: height and width of the images in pixels, None where they differ.

    Raises:
      ConfigError: the images are too small for the maps.
    """
    if None in size:
        return
    if params.name == SSD:
        strides = [SSD_STRIDES[0] * 2**i for i in range(params.num_maps)]
        remedy = "a smaller --model.num_maps"
    else:
        strides, remedy = params.strides, "smaller --model.strides"
    longest = max(side for side in size if side is not None)
    if longest <= strides[-1] // 2:
        raise ConfigError(
            f"images of {size[0]} x {size[1]} pixels are too small for a feature map of stride"
            f" {strides[-1]}: the map before it has one cell already; choose {remedy}, or larger"
            " images (--input.image_size, if the input has it)"
        )
