"""Writer of recognised words, for `tf-frame predict`.

DIR/predictions.csv  a row for each image: `name`, the path of the file; `text`; `confidence`
DIR/words/NAME.png   the image, at the size of its file if there is one, and the word in large type;
                     with rectification also the control points and the rectified image; small
                     images are enlarged
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import PredictionCsv
from tf_frame_recognition.evaluation.pictures import word_picture
from tf_frame_vision.drawing.own_picture import file_picture
from tf_frame_vision.drawing.png import write_png

# Height of the letters of a word, in pixels.
_LETTERS = 40
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
        row = {key: prediction[key] for key in ("text", "confidence")}
        self._rows(os.fsdecode(features.get("name", name)), None, row)
        extra = {key: prediction[key] for key in self._extra}
        image = file_picture(features["name"]) if "name" in features else None
        image = features["image"] if image is None else image
        picture = word_picture(image, [_line(prediction)], size=_LETTERS, **extra)
        write_png(self._path(name), picture)

    def describe(self, name: str, features: Mapping[str, Any], prediction: Any) -> list[str]:
        """Returns the word and its confidence, and the path of the picture."""
        del features
        return [_line(prediction), f"drawn in {self._path(name)}"]

    def close(self) -> None:
        """Closes the table."""
        self._rows.close()

    def _path(self, name: str) -> Path:
        return self._pictures / f"{name}.png"


def _line(prediction: Mapping[str, Any]) -> str:
    text = prediction["text"].decode(errors="replace") or "(no letters)"
    return f"{text}  {prediction['confidence']:.3f}"
