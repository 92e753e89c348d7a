"""Options of evaluation, prediction and export: views of an image, and files of predictions.

Options of DeepLab's eval.py and vis.py (tensorflow/models, research/deeplab) keep their names.
"""

from __future__ import annotations

import dataclasses

from tf_frame import option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.datasets.colormaps import COLORMAPS

OWN_COLOURS = "own"


@dataclasses.dataclass(frozen=True)
class EvaluationParams:
    """Options that count in evaluation, prediction and export, not in training."""

    eval_scales: tuple[float, ...] = option(
        (1.0,),
        "scales of the image; their probabilities are averaged; such as 0.5,0.75,1,1.25,1.5,1.75",
        min=0.1,
        max=10,
    )
    add_flipped_images: bool = option(
        False, "also average with the probabilities of the mirrored image"
    )
    sliding_window: int = option(
        0, "side of square parts of large images in pixels; 0: whole images", min=0
    )
    window_overlap: float = option(
        0.25, "least share of a part that the next part covers as well", min=0, max=0.9
    )
    colormap_type: str = option(
        OWN_COLOURS,
        "colours of predictions, by data set; own: the colours that the input gives its classes",
        choices=(OWN_COLOURS, *COLORMAPS),
    )
    also_save_raw_predictions: bool = option(
        False, "predict also writes raw/NAME.png, the data set's own ids as grey values"
    )

    @property
    def has_several_views(self) -> bool:
        """True if the network sees an image several times, scaled, mirrored or in parts."""
        return self.eval_scales != (1.0,) or self.add_flipped_images or self.sliding_window > 0


def check(params: EvaluationParams, num_classes: int) -> None:
    """Checks options against each other.

    Raises:
      ConfigError: there is no scale, or a colour map has too few colours.
    """
    if not params.eval_scales:
        raise ConfigError("--model.eval_scales is empty; give at least one scale, such as 1")
    colours = COLORMAPS.get(params.colormap_type)
    if colours is not None and len(colours) < num_classes:
        raise ConfigError(
            f"--model.colormap_type {params.colormap_type} has {len(colours)} colours, but there"
            f" are {num_classes} classes; choose another, or {OWN_COLOURS}"
        )
