"""Writer of recognised words, for `tf-frame predict`.

DIR/predictions.csv  a row for each image: `name`, the path of the file; `text`; `confidence`
DIR/words/NAME.png   the image and the word; with rectification also the control points and the
                     rectified image; small images are enlarged
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import PredictionCsv
from tf_frame_recognition.evaluation.pictures import word_picture
from tf_frame_vision.drawing.png import write_png

_RECTIFIED = ("rectified", "control_points")


class PredictionWriter:
    """Writes a row and a picture for each example.

    Args:
      directory: the folder; its folder of pictures is made.
      rectify: whether the model rectifies images.
    """

    def __init__(self, directory: str, *, rectify: bool = False) -> None:
        self._extra = _RECTIFIED if rectify else ()
        self.predict_keys: Sequence[str] = ("text", "confidence", *self._extra)
        self._rows = PredictionCsv(directory)
        self._pictures = Path(directory) / "words"
        self._pictures.mkdir(parents=True, exist_ok=True)

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the row and the picture of an example.

        Args:
          name: name of the picture, without the ending.
          features: `image` `[height, width, channels]`, 0 to 255; perhaps `name`, the path of the
            file.
          prediction: the outputs of `predict_keys`, without the batch.
        """
        text, confidence = prediction["text"], prediction["confidence"]
        row = {"text": text, "confidence": confidence}
        self._rows(os.fsdecode(features.get("name", name)), None, row)
        line = f"{text.decode(errors='replace')}  {confidence:.3f}"
        extra = {key: prediction[key] for key in self._extra}
        write_png(self._pictures / f"{name}.png", word_picture(features["image"], [line], **extra))

    def close(self) -> None:
        """Closes the table."""
        self._rows.close()
