"""Boxes and outlines of numbered objects, computed from their pixels by NumPy.

The rotated box of an object lies along the principal axis of its pixels. Minimum-area rectangles
of pixel masks snap to 0 and 90 degrees instead, and would hardly test an angle.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Directions with a point of the outline; quarter turns are among them.
DIRECTIONS = 64
# Masks may end a pixel before the edge of an image, as those of the sample do.
_MARGIN = 2


@dataclasses.dataclass(frozen=True)
class Outlines:
    """Objects of a rectangle cut out of an image; coordinates in pixels of the rectangle.

    Attributes:
      corners: `[count, 4, 2]` float32, row and column of the corners of the rotated box.
      points: `[count, DIRECTIONS, 2]` float32, the outermost point in each direction; the
        upright box around them stays that of the object when it is turned, to 0.2 pixels,
        and exactly by quarters.
      cut: `[count]` bool, whether the object reaches the edge of the image or beyond the rectangle.
    """

    corners: Any
    points: Any
    cut: Any


def outlines(instances: NDArray[Any], top: int, left: int, height: int, width: int) -> Outlines:
    """Finds the objects of a rectangle; of a cut object the part within counts.

    Args:
      instances: `[rows, columns]`, the number of the object of each pixel, 0 for none.
      top, left, height, width: the rectangle.
    """
    part = instances[top : top + height, left : left + width]
    numbers = [number for number in np.unique(part) if number]
    parts = [np.argwhere(part == number) for number in numbers]
    objects = [np.argwhere(instances == number) for number in numbers]
    last = np.array(instances.shape) - 1
    cut = [
        len(all_pixels) > len(pixels)
        or bool((all_pixels < _MARGIN).any() or (all_pixels > last - _MARGIN).any())
        for pixels, all_pixels in zip(parts, objects, strict=True)
    ]
    return Outlines(
        np.array([_principal_corners(pixels) for pixels in parts], np.float32).reshape(-1, 4, 2),
        np.array([_outermost(pixels) for pixels in parts], np.float32).reshape(-1, DIRECTIONS, 2),
        np.array(cut, np.bool_),
    )


def _principal_corners(pixels: NDArray[Any]) -> NDArray[Any]:
    """Returns the corners of the box along the principal axis of pixels, `[count, 2]`."""
    centres = pixels + 0.5
    mean = centres.mean(axis=0)
    moments = np.cov((centres - mean).T, bias=True) if len(pixels) > 1 else np.eye(2)
    # The last eigenvector belongs to the greatest variance.
    long = np.linalg.eigh(moments)[1][:, -1]
    axes = np.stack([long, [-long[1], long[0]]])
    places = (centres - mean) @ axes.T
    # A pixel is as wide as one, along the axes of the image at least.
    low, high = places.min(axis=0) - 0.5, places.max(axis=0) + 0.5
    square = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    return np.asarray(mean + np.array(square) @ axes)


def _outermost(pixels: NDArray[Any]) -> NDArray[Any]:
    """Returns the outermost corners of pixels, `[DIRECTIONS, 2]`."""
    corners = np.concatenate([pixels + offset for offset in ((0, 0), (0, 1), (1, 0), (1, 1))])
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    # Rounded, so that quarter turns are exact.
    ways = np.round(np.stack([np.sin(angles), np.cos(angles)]), 12)
    return np.asarray(corners[np.argmax(corners @ ways, axis=0)])
