"""Colours for classes, and overlays that show predicted classes on an image.

They let people check a segmentation by eye: colours are far apart, areas have an outline, and the
image shows through.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tf_frame_vision.reading.class_names import is_background

Pixels = NDArray[np.uint8]

# Steps of this part of the colour circle stay far from all earlier ones.
_GOLDEN_RATIO = (5**0.5 - 1) / 2
_FIRST_HUE = 0.09
# Saturation and brightness alternate, so that near hues differ, too.
_TONES = ((0.85, 1.0), (0.6, 0.95), (1.0, 0.75))
_FILL = 0.5


def has_background(class_names: Sequence[str]) -> bool:
    """Returns whether class 0 is the background: by its name, or if no names are known."""
    return not class_names or is_background(class_names[0])


def palette(num_classes: int, *, background: bool) -> Pixels:
    """Makes a colour for each class.

    Args:
      background: whether class 0 is the background, which is black.

    Returns:
      `[num_classes, 3]`: red, green and blue.
    """
    colours = [(0.0, 0.0, 0.0)] if background else []
    for index in range(num_classes - len(colours)):
        hue = (_FIRST_HUE + index * _GOLDEN_RATIO) % 1
        colours.append(colorsys.hsv_to_rgb(hue, *_TONES[index % len(_TONES)]))
    return np.round(np.array(colours).reshape(-1, 3) * 255).astype(np.uint8)


def overlay(image: Pixels, classes: NDArray[np.integer], colours: Pixels) -> Pixels:
    """Lays translucent colours over an image, with an opaque line around each area.

    Args:
      image: `[height, width, 3]`.
      classes: `[height, width]`.
      colours: `[num_classes, 3]`; black leaves the pixels of a class as they are.

    Returns:
      `[height, width, 3]`.
    """
    painted: Pixels = colours[classes]
    strength = np.where(outline(classes), 1.0, _FILL) * (painted.any(axis=2))
    mixed = image + strength[..., np.newaxis] * (painted.astype(np.float64) - image)
    result: Pixels = np.round(mixed).astype(np.uint8)
    return result


def outline(classes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Marks pixels with a neighbour of another class, above, below or to either side.

    Args:
      classes: `[height, width]`.
    """
    differs = np.zeros(classes.shape, bool)
    down, right = classes[1:] != classes[:-1], classes[:, 1:] != classes[:, :-1]
    differs[1:] |= down
    differs[:-1] |= down
    differs[:, 1:] |= right
    differs[:, :-1] |= right
    return differs
