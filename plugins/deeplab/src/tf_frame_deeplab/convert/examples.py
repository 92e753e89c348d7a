"""Encodes an image and its mask as a serialized `tf.train.Example` with DeepLab's keys.

Keys: tensorflow/models, research/deeplab/datasets/build_data.py.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from numpy.typing import NDArray

from tf_frame_deeplab.convert.drawn import DrawnPicture
from tf_frame_deeplab.convert.source import MaskedPicture
from tf_frame_deeplab.inputs.mask_file import (
    COLOUR,
    DamagedPairError,
    describe_colour,
    examine,
    mask_values,
)
from tf_frame_vision.convert import images
from tf_frame_vision.convert.folders import content
from tf_frame_vision.convert.records import CorruptImage
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.image_options import MAX_PIXELS, ImageOptions

_NAME_KEY = "image/filename"


class SegmentationRecords:
    """Maker of the records of images and masks; see `tf_frame_vision.convert.records`.

    Args:
      options: limits and ranges; see `tf_frame_vision.reading.image_options`.
    """

    def __init__(self, options: ImageOptions) -> None:
        self._options = options

    def record(self, picture: MaskedPicture) -> bytes:
        """Returns the example of a picture."""
        try:
            classes = record_classes(picture, max_pixels=self._options.max_pixels)
        except DamagedPairError as error:
            raise CorruptImage(str(error)) from error
        encoded = images.encode(str(picture.pair.image), content(picture.pair.image), self._options)
        return images.serialized(
            {
                "image/encoded": encoded.content,
                _NAME_KEY: os.fsencode(picture.filename),
                "image/format": encoded.image_format.encode(),
                "image/height": encoded.height,
                "image/width": encoded.width,
                "image/channels": 3,
                "image/segmentation/class/encoded": _png(classes),
                "image/segmentation/class/format": b"png",
            }
        )

    def identity(self, picture: MaskedPicture) -> str:
        """Returns the name of a picture."""
        return picture.filename

    def record_identity(self, record: bytes) -> str:
        """Returns the name in a record."""
        return os.fsdecode(images.read_value(record, _NAME_KEY))


def record_classes(picture: MaskedPicture, *, max_pixels: int = MAX_PIXELS) -> NDArray[np.int64]:
    """Returns the values of a mask in the records, `[height, width]`.

    Raises:
      DamagedPairError: a file cannot be read, sizes differ, or a pixel has no meaning.
    """
    if isinstance(picture, DrawnPicture):
        return np.asarray(picture.draw(), np.int64)
    facts, path = examine(picture.pair, max_pixels=max_pixels), picture.pair.mask
    pixels = mask_values(path, facts).astype(np.int64)
    in_colour = facts.kind == COLOUR
    meaning = picture.meaning.colours if in_colour else picture.meaning.values
    values, places = _distinct(pixels)
    unknown = [value for value in values.tolist() if value not in meaning]
    if unknown:
        pixel = describe_colour(unknown[0]) if in_colour else f"the value {unknown[0]}"
        raise DamagedPairError(Damage.of_file(path, f"it has {pixel}, which is no class"))
    return np.array([meaning[value] for value in values.tolist()], np.int64)[places]


def _distinct(pixels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the values of pixels, sorted, and the index of each pixel's value among them."""
    if pixels.max(initial=0) >= 2**16:
        values, places = np.unique(pixels, return_inverse=True)
        return values, places.reshape(pixels.shape)
    # Of few values a table is fifty times as fast as sorting.
    values = np.flatnonzero(np.bincount(pixels.ravel()))
    table = np.zeros(values.max(initial=0) + 1, np.int64)
    table[values] = np.arange(len(values))
    return values, table[pixels]


def _png(classes: NDArray[np.int64]) -> Any:
    """Encodes classes as a PNG of grey values: 8 bits, or 16 for larger values."""
    kind = np.uint8 if classes.max(initial=0) < 2**8 else np.uint16
    return tf.io.encode_png(classes.astype(kind)[..., np.newaxis]).numpy()
