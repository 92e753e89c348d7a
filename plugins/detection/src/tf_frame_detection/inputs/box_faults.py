"""Faults of boxes that leave nothing to learn: of a pixel, of the whole image, always the same.

Such boxes come from a conversion with a wrong unit, or from a program that labels images as a
whole. Each box alone is valid, and so no check of single boxes finds them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tf_frame import DataWarning
from tf_frame_detection.inputs.photographs import Photographs

# Sides of boxes in pixels that hold nothing, and the share of an image that is all of it.
_TINY, _WHOLE = 2.0, 0.98
# Boxes that are the same in fewer photographs may be so by chance.
_LEAST = 4


def box_warnings(photographs: Photographs) -> Iterator[DataWarning]:
    """Yields the faults of all boxes to train on."""
    upper, left, lower, right = photographs.boxes.astype(np.float64).T
    sizes = np.repeat(photographs.sizes, photographs.counts, axis=0).astype(np.float64)
    scale = np.where(np.repeat(photographs.are_shares, photographs.counts)[:, None], sizes, 1.0)
    height, width = (lower - upper) * scale[:, 0], (right - left) * scale[:, 1]
    if not len(height):
        return
    if (np.maximum(height, width) <= _TINY).all():
        yield DataWarning(
            "tiny_boxes",
            f"all {len(height)} training boxes have at most {_TINY:g} pixels, the largest "
            f"{height.max():.3g} x {width.max():.3g}",
            "check the unit: boxes of this format are "
            + ("shares of the image" if photographs.are_shares.all() else "in pixels, not shares"),
        )
    elif (height * width >= _WHOLE * sizes.prod(axis=1)).all() and sizes.all():
        yield DataWarning(
            "whole_image_boxes",
            f"all {len(height)} training boxes are as large as their images",
            "draw boxes around the objects; images with one label each are for --plugin "
            "classification",
        )
    elif _are_same(photographs):
        yield DataWarning(
            "constant_boxes",
            f"all {len(photographs)} training images have the same boxes",
            "check the annotations: the images are not looked at if boxes are always the same",
        )


def _are_same(photographs: Photographs) -> bool:
    """Returns whether all photographs have the same boxes of the same classes."""
    counts = photographs.counts
    if len(photographs) < _LEAST or (counts != counts[0]).any():
        return False
    rows = np.column_stack([photographs.boxes, photographs.classes])
    by_photograph = rows.reshape(len(photographs), -1)
    return bool((by_photograph == by_photograph[0]).all())
