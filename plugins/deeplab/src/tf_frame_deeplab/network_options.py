"""Options of the pyramid, the resizing and the scales of the model `deeplab`, and their checks.

Names, defaults and effects follow DeepLab's flags (tensorflow/models, research/deeplab,
common.py), except `pyramid`, which stands for the six flags of MobileNetV3's segmentation head,
and `align_corners`, always on there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tf_frame import option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.dense_prediction_cell import POOLING, read_cell

ASPP, PLAIN, LITE = "aspp", "plain", "lite"


@dataclasses.dataclass(frozen=True)
class NetworkParams:
    """Options of the network between backbone and loss."""

    pyramid: str = option(
        ASPP,
        "aspp: atrous spatial pyramid pooling; plain: the same without atrous branches; lite: "
        "MobileNetV3's, channels weighted by means over the image, and the sum of logits of two "
        "strides",
        choices=(ASPP, PLAIN, LITE),
    )
    dense_prediction_cell: str = option(
        "", "JSON file of a dense prediction cell that replaces the pyramid"
    )
    image_pooling_crop_size: tuple[int, ...] = option(
        (),
        "height and width, in pixels, of the windows that the branch for the whole image averages "
        "over, such as 769,769; empty: the whole image",
        min=1,
    )
    image_pooling_stride: tuple[int, ...] = option(
        (1, 1), "rows and columns of features between these windows", min=1
    )
    image_pyramid: tuple[float, ...] = option(
        (),
        "scales of the image; their logits are merged; such as 0.5,0.75,1; empty: 1",
        min=0.1,
        max=4,
    )
    merge_method: str = option(
        "max", "how logits of several scales are merged", choices=("max", "avg")
    )
    align_corners: bool = option(
        False,
        "resize so that the centres of corner pixels coincide, as published weights need; the "
        "network then sees sides of a multiple of the output stride plus 1",
    )


def scale_name(scale: float) -> str:
    """Returns the name that DeepLab gives the logits of a scale."""
    return f"logits_{scale:.2f}"


def check(params: Any) -> None:
    """Checks options against each other.

    Args:
      params: `tf_frame_deeplab.model.Params`.

    Raises:
      ConfigError: options that do not fit together, or a file of a cell that is wrong.
    """
    if len({scale_name(scale) for scale in params.image_pyramid}) < len(params.image_pyramid):
        raise ConfigError(
            f"--model.image_pyramid {_words(params.image_pyramid)} names a scale twice; scales"
            " differ by 0.01 at least"
        )
    if params.dense_prediction_cell:
        _check_cell(params)
    elif params.pyramid != ASPP and params.atrous_rates:
        raise ConfigError(
            f"--model.pyramid {params.pyramid} has no atrous branches; leave --model.atrous_rates "
            "out"
        )
    _check_pooling(params)


def _check_pooling(params: Any) -> None:
    crop_size, stride = params.image_pooling_crop_size, params.image_pooling_stride
    for name, pair in (("crop_size", crop_size), ("stride", stride)):
        if len(pair) not in ((0, 2) if name == "crop_size" else (2,)):
            raise ConfigError(
                f"--model.image_pooling_{name} {_words(pair)}: give two numbers, rows and columns"
            )
    if stride != (1, 1) and not crop_size:
        raise ConfigError(
            "--model.image_pooling_stride has no effect without --model.image_pooling_crop_size"
        )
    if crop_size and not params.image_pooling:
        raise ConfigError(
            "--model.image_pooling_crop_size has no effect with --model.image_pooling=false"
        )


def _check_cell(params: Any) -> None:
    replaced = {
        "pyramid": params.pyramid != ASPP,
        "atrous_rates": bool(params.atrous_rates),
        "image_pooling": not params.image_pooling,
        "image_pooling_stride": params.image_pooling_stride != (1, 1),
    }
    for name, is_set in replaced.items():
        if is_set:
            raise ConfigError(
                f"--model.dense_prediction_cell replaces the pyramid; leave --model.{name} out"
            )
    if params.output_stride == 32:
        raise ConfigError(
            "--model.dense_prediction_cell has rates for an output stride of 16; set"
            " --model.output_stride to 16, or 8 for twice the rates"
        )
    pools = any(branch.op == POOLING for branch in read_cell(params.dense_prediction_cell))
    if pools != bool(params.image_pooling_crop_size):
        raise ConfigError(
            f"--model.dense_prediction_cell {params.dense_prediction_cell} has"
            f" {'a' if pools else 'no'} branch {POOLING};"
            f" {'set' if pools else 'leave out'} --model.image_pooling_crop_size"
        )


def _words(values: Sequence[Any]) -> str:
    return ",".join(map(str, values))
