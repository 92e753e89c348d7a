"""Writer of classes, for `tf-frame predict`.

DIR/predictions.jsonl  a row for each image: `name`, the path of the file; `label`; `probabilities`;
                       `class_name`
DIR/pictures/NAME.png  the first images, each above its five likeliest classes
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tf_frame import PredictionJsonLines
from tf_frame_vision.drawing.boxes import enlarged
from tf_frame_vision.drawing.png import write_png
from tf_frame_vision.drawing.text import with_captions
from tf_frame_vision.reading.pixels import load_pixels

_TOP = 5
# The longest side of a picture, in pixels.
_LONGEST = 640


class ClassFiles:
    """Writes a row for each image, and pictures of those that are described.

    Args:
      directory: the folder.
      class_names: names of the classes; numbers stand in for missing ones.
    """

    def __init__(self, directory: str, class_names: Sequence[str] = ()) -> None:
        self._directory, self._class_names = Path(directory), class_names
        self._rows = PredictionJsonLines(directory)

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the row of an example.

        Args:
          name: its name, where the features have none.
          features: perhaps `name`, the path of the file.
          prediction: `label`, `probabilities`, and perhaps `class_name`, without the batch.
        """
        self._rows(os.fsdecode(features.get("name", name)), features, prediction)

    def describe(self, name: str, features: Mapping[str, Any], prediction: Any) -> list[str]:
        """Draws the image of a file; returns its likeliest classes, and the path of the picture.

        Args:
          name: name of the picture, without the ending.
          features: `name`, the path of the file.
          prediction: `probabilities`.
        """
        lines = self._likeliest(prediction["probabilities"])
        path = self._directory / "pictures" / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        picture = _fitting(load_pixels(os.fsdecode(features["name"])))
        write_png(path, with_captions(picture, lines))
        return [*lines, f"drawn in {path}"]

    def close(self) -> None:
        """Closes the table."""
        self._rows.close()

    def _likeliest(self, probabilities: Any) -> list[str]:
        names = dict(enumerate(self._class_names))
        return [
            f"{probabilities[label]:6.1%}  {names.get(label, f'class {label}')}"
            for label in np.argsort(-probabilities, kind="stable")[:_TOP].tolist()
        ]


def _fitting(pixels: Any) -> Any:
    """Returns a picture of a size that its captions fit to."""
    picture = Image.fromarray(pixels)
    picture.thumbnail((_LONGEST, _LONGEST))
    return enlarged(np.asarray(picture))
