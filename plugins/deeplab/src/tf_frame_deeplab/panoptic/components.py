"""Connected components of an image of classes, in NumPy.

Connected components are the instances of a network without heads for instances; evaluation compares
the heads with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def components(classes: Any, thing_classes: Sequence[int]) -> Any:
    """Numbers the areas of one class; pixels connect above, below and to either side.

    Args:
      classes: `[height, width]` integers.
      thing_classes: classes that have instances.

    Returns:
      `[height, width]` int32: from 1 on, 0 for pixels of other classes; numbers
      may be missing.
    """
    classes = np.asarray(classes)
    height, width = classes.shape
    down = classes[1:] == classes[:-1]
    across = classes[:, 1:] == classes[:, :-1]
    numbers = np.arange(height * width).reshape(height, width)
    while True:
        before = numbers.copy()
        _spread(numbers[1:], numbers[:-1], down)
        _spread(numbers[:, 1:], numbers[:, :-1], across)
        # A number is the index of a pixel in the same area; that pixel has no greater number.
        numbers = numbers.ravel()[numbers]
        if np.array_equal(numbers, before):
            return np.where(np.isin(classes, thing_classes), numbers + 1, 0).astype(np.int32)


def _spread(first: Any, second: Any, joined: Any) -> None:
    """Writes the lesser of two neighbours' numbers into both, where they are joined."""
    least = np.minimum(first, second)
    np.minimum(first, least, out=first, where=joined)
    np.minimum(second, least, out=second, where=joined)
