"""Names that NumPy has dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

PINF, NINF, PZERO, NZERO = np.inf, -np.inf, 0.0, -0.0


def array(object: Any, dtype: Any = None, *, copy: Any = True, **options: Any) -> Any:
    """Returns an array; one of objects for lists of different lengths, as before NumPy 1.24.

    Without `copy` it is a copy nevertheless where it must be.
    """
    return _array(np.array, object, dtype, copy=copy or None, **options)


def asarray(a: Any, dtype: Any = None, *arguments: Any, **options: Any) -> Any:
    """Returns the array itself, or what `array` does."""
    return _array(np.asarray, a, dtype, *arguments, **options)


def _array(make: Any, values: Any, dtype: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return make(values, dtype, *arguments, **options)
    except ValueError as error:
        if dtype is not None or "inhomogeneous" not in str(error):
            raise
        return make(values, object, *arguments, **options)


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """Returns an array of floating-point numbers."""
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def msort(a: Any) -> Any:
    """Returns the values sorted along the first axis."""
    return np.sort(a, 0)


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
