"""Functions of OpenCV that took numbers of any type as coordinates."""

from __future__ import annotations

import functools
import numbers
from typing import Any

import cv2
import numpy as np

_ON_PIXELS = ("arrowedLine", "circle", "ellipse", "line", "putText", "rectangle")


def restore_methods() -> None:
    """Lets `boxPoints` take NumPy's integers, and drawing functions floating-point pixels."""
    cv2.boxPoints = _taking_any(cv2.boxPoints, float)
    for name in _ON_PIXELS:
        setattr(cv2, name, _taking_any(getattr(cv2, name), int))


def _taking_any(function: Any, kind: type) -> Any:
    """Returns a function that tries again with the numbers in tuples converted."""

    @functools.wraps(function)
    def take(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except cv2.error:
            named = {name: _converted(value, kind) for name, value in options.items()}
            return function(*(_converted(value, kind) for value in arguments), **named)

    return take


def _converted(value: Any, kind: type) -> Any:
    if not isinstance(value, (tuple, list)):
        return value
    is_number = (numbers.Real, np.number)
    return tuple(kind(v) if isinstance(v, is_number) else _converted(v, kind) for v in value)
