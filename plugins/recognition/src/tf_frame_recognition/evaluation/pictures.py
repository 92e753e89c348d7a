"""Pictures of a word: the image with its control points, the rectified image, texts below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tf_frame_vision.drawing.boxes import enlarged
from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.text import CAPTION_SIZE, with_captions

_GAP = 8
_RADIUS = 4
# Of the control points along the upper and along the lower edge of the word.
_COLOURS = ((255, 90, 0), (0, 160, 255))


def word_picture(
    image: Any,
    lines: Sequence[str],
    *,
    rectified: Any = None,
    control_points: Any = None,
    size: int = CAPTION_SIZE,
) -> Pixels:
    """Draws an image and, to the right of it, the rectified image; both are enlarged.

    Args:
      image: `[height, width, channels]`, 0 to 255, of one or three channels.
      lines: texts below the images, such as the word that was read.
      rectified: the same for the rectified image; None: there is none.
      control_points: `[k, 2]`: x, y as shares of width and height of the image; the upper ones are
        orange, the lower ones blue.
      size: height of the letters of a line, about, in pixels.

    Returns:
      `[rows, columns, 3]`; the size depends on the sizes of the images and the number of lines.
    """
    pictures = [_coloured(image)]
    if control_points is not None:
        pictures[0] = _with_points(pictures[0], control_points)
    if rectified is not None:
        pictures.append(_coloured(rectified))
    height = max(len(picture) for picture in pictures)
    strips = [np.full([height, _GAP, 3], 255, np.uint8)] * (2 * len(pictures) - 1)
    strips[::2] = [_padded(picture, height) for picture in pictures]
    return with_captions(np.concatenate(strips, axis=1), lines, size)


def _coloured(image: Any) -> Pixels:
    pixels = np.clip(np.round(image), 0, 255).astype(np.uint8)
    return enlarged(np.broadcast_to(pixels, [*pixels.shape[:2], 3]))


def _padded(picture: Pixels, height: int) -> Pixels:
    return np.pad(picture, [(0, height - len(picture)), (0, 0), (0, 0)], constant_values=255)


def _with_points(picture: Pixels, points: Any) -> Pixels:
    """Draws dots, and lines between the dots of an edge; the edge of the picture cuts them off."""
    canvas = Image.fromarray(picture)
    draw = ImageDraw.Draw(canvas)
    # Points far away, or of a network that diverged, are beyond the numbers that Pillow takes.
    shares = np.clip(np.nan_to_num(points), -10, 10)
    # The centre of the first pixel, Pillow's 0, is at 0.5.
    places = shares * (canvas.width, canvas.height) - 0.5
    for edge, colour in zip(np.split(places, 2), _COLOURS, strict=True):
        draw.line([*map(tuple, edge)], fill=colour, width=2)
        for x, y in edge:
            around = (x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS)
            draw.ellipse(around, fill=colour)
    return np.array(canvas)
