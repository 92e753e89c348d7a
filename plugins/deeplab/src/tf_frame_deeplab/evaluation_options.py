"""Options of evaluation, prediction and export: views of an image, and files of predictions.

Those of DeepLab's eval.py and vis.py (tensorflow/models, research/deeplab) have their names.
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
        "scales of the image whose probabilities are averaged, such as 0.5,0.75,1,1.25,1.5,1.75",
        min=0.1,
        max=10,
    )
    add_flipped_images: bool = option(
        False, "average with the probabilities of the mirrored image, too"
    )
    sliding_window: int = option(
        0, "pixels of the square parts in which large images are taken; 0: whole images", min=0
    )
    window_overlap: float = option(
        0.25, "least share of a part that the next one covers, too", min=0, max=0.9
    )
    colormap_type: str = option(
        OWN_COLOURS,
        "colours of predictions, by data set; own: the colours that the input gives its classes",
        choices=(OWN_COLOURS, *COLORMAPS),
    )
    also_save_raw_predictions: bool = option(
        False, "predict also writes raw/NAME.png, grey values that are the data set's own ids"
    )

    @property
    def has_several_views(self) -> bool:
        """True unless the network takes the image once and as it is."""
        return self.eval_scales != (1.0,) or self.add_flipped_images or self.sliding_window > 0


def check(params: EvaluationParams, num_classes: int) -> None:
    """Checks what the bounds of single options do not.

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
