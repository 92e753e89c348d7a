"""Writer of predicted classes as PNG files, for `tf-frame predict` with the model `deeplab`.

Labels are for programs that read on; overlays are for people, to check them by eye.

DIR/labels/NAME.png    the class of each pixel, and a palette so that it can be looked at
DIR/overlays/NAME.png  the image with the classes laid over it in colour
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame_vision.drawing.palette import has_background, overlay, palette
from tf_frame_vision.drawing.png import write_png

_MAX_PALETTE = 256


class LabelsAndOverlays:
    """Writes the labels and the overlay of an example.

    Labels are 8-bit PNGs with a palette whose index is the class. With more than 256
    classes they are grey, 16 bits, and have none.

    Args:
      directory: the folder; its two folders are made.
      num_classes: number of classes.
      class_names: their names, or none; a class 0 called background stays unpainted.
    """

    predict_keys: Sequence[str] = ("semantic",)

    def __init__(self, directory: str, *, num_classes: int, class_names: Sequence[str]) -> None:
        self._folders = [Path(directory) / name for name in ("labels", "overlays")]
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        self._colours = palette(num_classes, background=has_background(class_names))

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the files of an example.

        Args:
          name: name of both files, without the ending.
          features: `image`, `[height, width, 3]`, 0 to 255.
          prediction: `semantic`, `[height, width]`.
        """
        classes = prediction["semantic"]
        image = np.clip(np.round(features["image"]), 0, 255).astype(np.uint8)
        labels, overlays = (folder / f"{name}.png" for folder in self._folders)
        if len(self._colours) > _MAX_PALETTE:
            write_png(labels, classes.astype(np.uint16))
        else:
            write_png(labels, classes.astype(np.uint8), colours=self._colours)
        write_png(overlays, overlay(image, classes, self._colours))
