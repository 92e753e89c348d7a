"""Pictures of examples for the sheet `data/train.png`, of the size that tf-frame shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tf_frame_vision.drawing.palette import Pixels, has_background, overlay, palette
from tf_frame_vision.drawing.text import with_legend

SIDE = 240
_IGNORED = (150, 150, 150)


def fitted(image: Any) -> Pixels:
    """Returns an image, `[height, width, 3]`, 0 to 255, shrunk or repeated to about 240 pixels."""
    pixels: Pixels = np.clip(np.round(image), 0, 255).astype(np.uint8)
    longest = max(*pixels.shape[:2], 1)
    if longest > SIDE:
        picture = Image.fromarray(pixels)
        picture.thumbnail((SIDE, SIDE))
        return np.asarray(picture)
    factor = round(SIDE / longest)
    return pixels.repeat(factor, axis=0).repeat(factor, axis=1)


def masked_picture(
    image: Any,
    classes: NDArray[np.integer[Any]],
    *,
    class_names: Sequence[str],
    colours: Sequence[Sequence[int]] = (),
    ignore_label: int | None = None,
) -> Pixels:
    """Returns an image under the colours of its classes, above their names.

    Args:
      image: `[height, width, 3]`, 0 to 255.
      classes: `[height, width]`.
      class_names: names of the classes; a background is not painted.
      colours: red, green and blue of each class; empty: tf-frame's own.
      ignore_label: label of pixels that do not count, which are grey.
    """
    count = len(class_names)
    background = has_background(class_names)
    painted = np.array(colours or palette(count, background=background), np.uint8)[:count]
    if background:
        painted[0] = 0
    painted = np.concatenate([painted, np.array([_IGNORED], np.uint8)])
    is_class = (classes >= 0) & (classes < count) & (classes != ignore_label)
    numbers = np.where(is_class, classes, count)
    pixels: Pixels = np.clip(np.round(image), 0, 255).astype(np.uint8)
    names = [*class_names, "ignored"]
    entries = [(names[n], painted[n]) for n in np.unique(numbers).tolist() if painted[n].any()]
    return with_legend(fitted(overlay(pixels, numbers, painted)), entries)
