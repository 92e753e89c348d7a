"""Interpolation of SciPy."""

from __future__ import annotations

from typing import Any


def interp1d(x: Any, y: Any, kind: Any = "linear", *arguments: Any, **options: Any) -> Any:
    """Returns a function through points; those of `slinear` may share their x, as they once did."""
    from scipy import interpolate  # The table is checked without SciPy.

    kind = "linear" if kind == "slinear" else kind
    return interpolate.interp1d(x, y, kind, *arguments, **options)
