"""Names that NumPy has dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

PINF, NINF, PZERO, NZERO = np.inf, -np.inf, 0.0, -0.0


def asscalar(a: Any) -> Any:
    """Returns the only element of an array as a number of Python."""
    return a.item()


def load(file: Any, mmap_mode: Any = None, allow_pickle: bool = True, **options: Any) -> Any:
    """Loads arrays, pickled objects included, as NumPy did before 1.16.3.

    Pickled objects run code: load files from people you trust only.
    """
    return np.load(file, mmap_mode, allow_pickle, **options)


def reshape(a: Any, newshape: Any = None, order: Any = "C", **options: Any) -> Any:
    """Returns the array in another shape, which was the argument `newshape`."""
    shape = options.pop("shape", newshape)
    return np.reshape(a, shape, order, **options)


def fromstring(string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    """Returns the numbers in a text, or, without a separator, in bytes."""
    if sep:
        return np.fromstring(string, dtype, count, sep=sep)
    return np.frombuffer(string, dtype, count).copy()
