"""Encodes an image and its boxes as a serialized `tf.train.Example` with the API's keys.

Keys: see `tf_frame_detection.inputs.record_marks`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame_detection.inputs import record_marks as keys
from tf_frame_detection.inputs.annotations import Marked, Photograph
from tf_frame_vision.convert import images
from tf_frame_vision.convert.folders import content
from tf_frame_vision.reading.record_facts import IMAGE

_NAME_KEY = "image/filename"


@dataclasses.dataclass(frozen=True)
class Picture:
    """A photograph to convert.

    Attributes:
      photograph: the image and its objects, which are checked.
      root: the folder of the source.
    """

    photograph: Photograph
    root: Path

    @property
    def filename(self) -> str:
        """Path of the image below the folder of the source."""
        return os.path.relpath(self.photograph.path, self.root)


class DetectionRecords:
    """Maker of the records; see `tf_frame_vision.convert.records`.

    Args:
      ids: label of each class.
      names: text of each class.
      rotated: whether to write corners.
      options: limits and ranges; see `tf_frame_vision.reading.image_options`.
    """

    def __init__(
        self, ids: Sequence[int], names: Sequence[str], *, rotated: bool, options: Any = None
    ) -> None:
        self._ids, self._names, self._rotated = ids, names, rotated
        self._options = options

    def record(self, picture: Picture) -> bytes:
        """Returns the example of a picture."""
        photograph = picture.photograph
        encoded = images.encode(str(photograph.path), content(photograph.path), self._options)
        name = os.fsencode(picture.filename)
        return images.serialized(
            {
                IMAGE: encoded.content,
                _NAME_KEY: name,
                "image/source_id": name,
                "image/format": encoded.image_format.encode(),
                "image/key/sha256": hashlib.sha256(encoded.content).hexdigest().encode(),
                keys.HEIGHT: encoded.height,
                keys.WIDTH: encoded.width,
                **self._objects(photograph.marks, encoded.height, encoded.width),
            }
        )

    def _objects(self, marks: Sequence[Marked], height: int, width: int) -> dict[str, Any]:
        boxes = np.array([mark.box for mark in marks], np.float32).reshape(-1, 4)
        shares = boxes / np.array([height, width, height, width], np.float32)
        crowd = np.array([mark.crowd for mark in marks], np.int64)
        difficult = np.array([mark.ignored and not mark.crowd for mark in marks], np.int64)
        objects: dict[str, Any] = dict(zip(keys.EDGES, shares.T, strict=True))
        if self._rotated:
            corners = np.array([mark.four_corners for mark in marks], np.float32).reshape(-1, 2)
            objects |= zip(keys.CORNERS, (corners / [height, width]).T, strict=True)
        return {
            **objects,
            keys.LABEL: np.array([self._ids[mark.number] for mark in marks], np.int64),
            keys.TEXT: [self._names[mark.number].encode() for mark in marks],
            keys.DIFFICULT: difficult,
            keys.CROWD: crowd,
        }

    def identity(self, picture: Picture) -> str:
        """Returns the name of a picture."""
        return picture.filename

    def record_identity(self, record: bytes) -> str:
        """Returns the name in a record."""
        return os.fsdecode(images.read_value(record, _NAME_KEY))
