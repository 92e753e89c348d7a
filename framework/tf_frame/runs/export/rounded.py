"""Comparison of an export that rounds with the restored session, on average.

Where every layer is rounded to 256 levels, single elements may differ by any amount. So these are
compared:

* Floating point: the mean absolute difference, in units of the output's scale; see `verify`.
* Integers, such as classes, and truth values: the share of elements that differ, without ties of
  classes; see `verify`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tf_frame.runs.export.ranked import in_order_of
from tf_frame.runs.export.verify import (
    Comparison,
    DifferenceError,
    check_shape,
    scale_of,
    ties_of,
)


def compare_rounded(
    expected: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    found: Iterable[Mapping[str, Any]],
    *,
    tolerance: float,
    ranked_by: str = "",
) -> Comparison:
    """Compares the means of all batches with a tolerance; see `verify.compare_batches`.

    Args:
      expected: outputs of the restored session and further scores, for each batch.
      found: outputs of the exported model.
      tolerance: largest mean difference of an output.
      ranked_by: see `verify.compare`.

    Raises:
      DifferenceError: an output differs by more, or has another shape.
    """
    differences: dict[str, list[float]] = {}
    for (arrays, more), outputs in zip(expected, found, strict=True):
        if ranked_by in arrays:
            allowed = 2 * tolerance * scale_of(np.asarray(arrays[ranked_by]))
            outputs = in_order_of(arrays, outputs, ranked_by, allowed)
        scores = [np.asarray(each) for each in (*arrays.values(), *more.values())]
        for name, array in arrays.items():
            pair = np.asarray(array), np.asarray(outputs[name])
            value = _mean_difference(name, *pair, tolerance, scores)
            differences.setdefault(name, []).append(value)
    means = {name: float(np.mean(values)) for name, values in differences.items()}
    worst = max(means, key=lambda name: means[name])
    if not means[worst] <= tolerance:
        raise DifferenceError(
            f"rounded to 8 bits the output {worst} differs by {means[worst]:.2g} on average, "
            f"allowed: {tolerance:g}; train with --quantize_delay_step, or export as tflite"
        )
    return Comparison(means[worst], worst, kind="mean")


def _mean_difference(
    name: str, expected: Any, found: Any, tolerance: float, scores: list[Any]
) -> float:
    check_shape(name, expected, found)
    if expected.dtype.kind != "f":
        differs = expected != found
        if np.issubdtype(expected.dtype, np.integer):
            differs &= ~ties_of(expected, found, tolerance, scores)
        return float(np.mean(differs))
    return float(np.mean(np.abs(expected - found))) / scale_of(expected)
