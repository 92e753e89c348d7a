"""Methods of Matplotlib's figures that are gone."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def restore_methods() -> None:
    """Gives canvases `tostring_rgb`; `add_subplot("111")` is `add_subplot(111)` again."""
    if not hasattr(FigureCanvasAgg, "tostring_rgb"):
        FigureCanvasAgg.tostring_rgb = _tostring_rgb
    Figure.add_subplot = _taking_text(Figure.add_subplot)


def _tostring_rgb(canvas: Any) -> bytes:
    """Returns the pixels of a canvas that is drawn, `[height, width, 3]`."""
    return np.asarray(canvas.buffer_rgba())[..., :3].tobytes()


def _taking_text(add_subplot: Any) -> Any:
    @functools.wraps(add_subplot)
    def add(figure: Any, *position: Any, **options: Any) -> Any:
        if len(position) == 1 and isinstance(position[0], str):
            position = (int(position[0]),)
        return add_subplot(figure, *position, **options)

    return add
