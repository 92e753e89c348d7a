"""Turns pixels, sizes and points from an image as stored to the image as shown.

The orientation of EXIF is a number from 1 to 8:

    1  as stored                         5  mirrored along the main diagonal
    2  mirrored left to right            6  turned by 90 degrees clockwise
    3  turned by 180 degrees             7  mirrored along the other diagonal
    4  mirrored top to bottom            8  turned by 90 degrees counterclockwise

Does not import TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

UPRIGHT = 1
# Of each orientation: whether rows and columns are exchanged, and whether the result is then
# mirrored top to bottom, and left to right.
TURNS = {
    1: (False, False, False),
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}


def turned_size(height: int, width: int, orientation: int) -> tuple[int, int]:
    """Returns height and width as shown of an image that is stored with a height and a width."""
    return (width, height) if TURNS[orientation][0] else (height, width)


def turn_pixels(pixels: Any, orientation: int) -> Any:
    """Turns a stored image or mask, `[height, width, ...]`, as it is shown."""
    exchanged, top_to_bottom, left_to_right = TURNS[orientation]
    if exchanged:
        pixels = pixels.swapaxes(0, 1)
    if top_to_bottom:
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels[:, ::-1] if left_to_right else pixels)


def turn_points(points: Any, orientation: int, stored_size: tuple[int, int]) -> Any:
    """Turns points from the stored image to the shown image.

    Args:
      points: `[..., 2]`, x and y in pixels; 0 and the size are the edges of the image.
      orientation: of EXIF, 1 to 8.
      stored_size: height and width as stored.

    Returns:
      An array of the same shape.
    """
    exchanged, top_to_bottom, left_to_right = TURNS[orientation]
    x, y = np.moveaxis(np.asarray(points), -1, 0)
    if exchanged:
        x, y = y, x
    height, width = turned_size(*stored_size, orientation)
    return np.stack([width - x if left_to_right else x, height - y if top_to_bottom else y], -1)
