"""Functions and arguments of Matplotlib that are gone."""

from __future__ import annotations

import functools
from typing import Any

import matplotlib
import matplotlib.cm
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_STYLE = "seaborn-v0_8"


def restore_methods() -> None:
    """Gives Matplotlib what it lost from version 2.2 on, if programs of that time used it.

    `canvas.tostring_rgb()`, `cm.get_cmap`, `hist(normed=True)`, `gca(projection="3d")`,
    `add_subplot("111")`, `use("Agg", warn=False)`, the styles `seaborn`, `hold`.
    """
    classes_and_methods: list[tuple[Any, str, Any]] = [
        (FigureCanvasAgg, "tostring_rgb", _tostring_rgb),
        (FigureCanvasBase, "set_window_title", _set_window_title),
        (Axes, "set_axis_bgcolor", Axes.set_facecolor),
        (Axes, "get_axis_bgcolor", Axes.get_facecolor),
        (Axes, "hold", _hold),
        (matplotlib.cm, "get_cmap", _get_cmap),
        (matplotlib.cm, "register_cmap", _register_cmap),
        (plt, "hold", _hold),
    ]
    for owner, name, method in classes_and_methods:
        if not hasattr(owner, name):
            setattr(owner, name, method)
    Figure.add_subplot = _taking_text(Figure.add_subplot)
    Axes.hist = _taking_normed(Axes.hist)
    Figure.gca = _taking_projection(Figure.gca, lambda figure: figure)
    plt.gca = _taking_projection(plt.gca, plt.gcf)
    matplotlib.use = _without_warn(matplotlib.use)
    styles = plt.style.library
    for name in [name for name in styles if name.startswith(_STYLE)]:
        styles.setdefault("seaborn" + name.removeprefix(_STYLE), styles[name])


def _tostring_rgb(canvas: Any) -> bytes:
    """Returns the pixels of a canvas that is drawn, `[height, width, 3]`."""
    return np.asarray(canvas.buffer_rgba())[..., :3].tobytes()


def _set_window_title(canvas: Any, title: str) -> None:
    if canvas.manager is not None:
        canvas.manager.set_window_title(title)


def _hold(*arguments: Any, **options: Any) -> None:
    """Does nothing: plots always stay."""


def _get_cmap(name: Any = None, lut: int | None = None) -> Any:
    """Returns the map of colours with a name, in `lut` colours."""
    return plt.get_cmap(name, lut)


def _register_cmap(name: str | None = None, cmap: Any = None, **options: Any) -> None:
    matplotlib.colormaps.register(cmap, name=name, force=True)


def _taking_text(add_subplot: Any) -> Any:
    @functools.wraps(add_subplot)
    def add(figure: Any, *position: Any, **options: Any) -> Any:
        if len(position) == 1 and isinstance(position[0], str):
            position = (int(position[0]),)
        return add_subplot(figure, *position, **options)

    return add


def _taking_normed(hist: Any) -> Any:
    """Returns the method with the name that `density` had."""

    @functools.wraps(hist)
    def draw(axes: Any, *arguments: Any, normed: Any = None, **options: Any) -> Any:
        if normed is not None:
            options["density"] = bool(normed)
        return hist(axes, *arguments, **options)

    return draw


def _taking_projection(gca: Any, get_figure: Any) -> Any:
    """Returns the function, which makes axes if they have a projection."""

    @functools.wraps(gca)
    def get(*figure: Any, **options: Any) -> Any:
        return get_figure(*figure).add_subplot(**options) if options else gca(*figure)

    return get


def _without_warn(use: Any) -> Any:
    @functools.wraps(use)
    def choose(backend: str, warn: bool = False, **options: Any) -> None:
        use(backend, **options)

    return choose
