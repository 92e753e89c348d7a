"""Pictures at their own size: of the file, or of the network's image with the file's aspect."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.reading.image_header import ImageError
from tf_frame_vision.reading.pixels import load_pixels


def file_picture(name: Any) -> Pixels | None:
    """Returns the pixels of an image file as it is shown; None if there is no such image.

    Args:
      name: the feature `name` of an example: a path, or another name, such as that of a record.
    """
    path = os.fsdecode(name)
    try:
        pixels: Pixels | None = load_pixels(path) if os.path.isfile(path) else None
    except (ImageError, OSError):
        # The network has seen the image, so the file has changed since, or is no image.
        pixels = None
    return pixels


def resized(image: Any, size: Sequence[int]) -> Pixels:
    """Returns a picture of another size.

    Args:
      image: `[height, width, 3]`, 0 to 255.
      size: height and width of the result.
    """
    pixels: Pixels = np.clip(np.round(image), 0, 255).astype(np.uint8)
    height, width = (max(int(side), 1) for side in size)
    if pixels.shape[:2] == (height, width):
        return pixels
    return np.array(Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR))
