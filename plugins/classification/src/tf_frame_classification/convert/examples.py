"""Encodes a labelled picture as a serialized `tf.train.Example` with slim's feature keys."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from tf_frame_classification.convert.pictures import Picture
from tf_frame_vision.convert import images
from tf_frame_vision.convert.images import Encoded

_NAME_KEY, _LABEL_KEY = "image/filename", "image/class/label"


@dataclasses.dataclass(frozen=True)
class LabelledRecords:
    """Maker of the records of labelled pictures; see `tf_frame_vision.convert.records`.

    Attributes:
      class_names: the name of each class.
      options: limits and ranges; see `tf_frame_vision.reading.image_options`.
    """

    class_names: Sequence[str]
    options: Any = None

    def record(self, picture: Picture) -> bytes:
        """Returns the example of a picture."""
        return serialize(picture, encode(picture, self.options), self.class_names[picture.label])

    def identity(self, picture: Picture) -> str:
        """Returns the file name and the label of a picture."""
        return _identity(picture.filename, picture.label)

    def record_identity(self, record: bytes) -> str:
        """Returns the file name and the label in a record."""
        filename = os.fsdecode(images.read_value(record, _NAME_KEY))
        return _identity(filename, images.read_value(record, _LABEL_KEY))


def encode(picture: Picture, options: Any = None) -> Encoded:
    """Loads a picture, and decodes it; see `images.encode`."""
    return images.encode(picture.filename, picture.load(), options)


def serialize(picture: Picture, encoded: Encoded, class_name: str) -> bytes:
    """Returns the example; the same bytes in each run."""
    return images.serialized(
        {
            "image/encoded": encoded.content,
            "image/format": encoded.image_format.encode(),
            "image/height": encoded.height,
            "image/width": encoded.width,
            _LABEL_KEY: picture.label,
            "image/class/text": os.fsencode(class_name),
            _NAME_KEY: os.fsencode(picture.filename),
        }
    )


def _identity(filename: str, label: int) -> str:
    return f"{filename} with label {label}"
