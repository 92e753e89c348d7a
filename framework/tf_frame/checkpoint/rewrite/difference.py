"""Comparison of two checkpoints by variables, shapes and values (`tf-frame checkpoint diff`)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame.checkpoint.find.reader import Checkpoint


@dataclasses.dataclass(frozen=True)
class Difference:
    """The differences between two checkpoints.

    Attributes:
      only_in_first, only_in_second: names of variables.
      other_shapes: (name, type and shape in the first, in the second).
      other_values: (name, largest absolute difference); None for texts, and
        where only one of the two values is NaN or infinite.
      same: names of equal variables; NaN equals NaN.
    """

    only_in_first: Sequence[str]
    only_in_second: Sequence[str]
    other_shapes: Sequence[tuple[str, str, str]]
    other_values: Sequence[tuple[str, float | None]]
    same: Sequence[str]

    @property
    def any(self) -> bool:
        """True if the checkpoints differ in anything."""
        return bool(
            self.only_in_first or self.only_in_second or self.other_shapes or self.other_values
        )


def difference(first: Checkpoint, second: Checkpoint) -> Difference:
    """Compares names, types, shapes and values, one variable at a time."""
    shapes, values, same = [], [], []
    for name in (name for name in first.names if name in second):
        described = first.described(name), second.described(name)
        if described[0] != described[1]:
            shapes.append((name, *described))
            continue
        a, b = first.read(name), second.read(name)
        if _equal(a, b):
            same.append(name)
        else:
            values.append((name, _largest(a, b)))
    return Difference(
        [name for name in first.names if name not in second],
        [name for name in second.names if name not in first],
        shapes,
        values,
        same,
    )


def _equal(a: Any, b: Any) -> bool:
    same = a == b
    if a.dtype != object:
        same |= (a != a) & (b != b)
    return bool(np.all(same))


def _largest(a: Any, b: Any) -> float | None:
    """The largest absolute difference of two arrays that are not equal."""
    if a.dtype == object:
        return None
    if a.dtype.kind in "iu":
        # Two's complement is exact in all 64 bits; floats have 53.
        return float(
            (np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)).max()
        )
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        apart = np.abs(a.astype(wide) - b.astype(wide))
    # Equal infinities and a NaN in both are no difference, though they subtract to NaN.
    largest = float(apart[~((a == b) | ((a != a) & (b != b)))].max())
    return largest if math.isfinite(largest) else None
