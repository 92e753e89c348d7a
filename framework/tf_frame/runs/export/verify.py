"""Comparison of an exported model's outputs with the outputs of the restored session.

Freezing or converting a graph can change its outputs without any error.

    comparison = compare(expected, found, tolerance=1e-5)
    comparison.largest_difference  # 3e-8

The rules for outputs:

* Floating point: no element may differ by more than `tolerance` times the scale of the output,
  which is the largest finite absolute value, at least 1. The bound is absolute for probabilities
  and relative for large values. NaN and infinity have to be the same.
* Integers, such as maps of classes: equal, except for ties. If there are floating-point scores of
  the classes, with one score per class in the last dimension, an element may be another class with
  a score within twice the tolerance of the highest one (each score may differ by one tolerance).
* Text: equal, except for elements where integers of the same shape tie.
* Truth values: equal.
* Rows that are sorted by a score, of a model with `ranked_by`: rows with scores within twice the
  tolerance of each other may come in any order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError, short_reason
from tf_frame.runs.export.row_order import align_tied_rows


class DifferenceError(TfFrameError):
    """An exported model computes other outputs than the restored session."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The result of a comparison within tolerance.

    Attributes:
      largest_difference: largest difference in all floating-point outputs, in units of
        their scale.
      output: name of the output with this difference; empty if there is none.
      ties: number of integers that are another class of (nearly) the same score.
      kind: `largest`, or `mean` for a mean difference.
    """

    largest_difference: float = 0.0
    output: str = ""
    ties: int = 0
    kind: str = "largest"

    def merge(self, other: Comparison) -> Comparison:
        """Returns the result for the outputs of two comparisons."""
        is_larger = other.output and other.largest_difference >= self.largest_difference
        return dataclasses.replace(other if is_larger else self, ties=self.ties + other.ties)


def compare(
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    tolerance: float,
    scores: Mapping[str, Any] | None = None,
    ranked_by: str = "",
) -> Comparison:
    """Compares outputs by the rules of the module.

    Args:
      expected: output name -> array of the restored session; or signature name -> output name ->
        array.
      found: arrays of the exported model, in the same form.
      tolerance: largest difference, in units of an output's scale.
      scores: further arrays of the restored session, under any names, that may be the scores of
        integer outputs.
      ranked_by: name of the output with the scores of rows; see `tf_frame.Model`.

    Raises:
      DifferenceError: an output differs by more; the message names output and element.
    """
    if set(expected) != set(found):
        raise DifferenceError(
            f"the exported model has the outputs {_listed(found)}; expected: {_listed(expected)}"
        )
    if ranked_by in expected:
        allowed = 2 * tolerance * output_scale(np.asarray(expected[ranked_by]))
        found = align_tied_rows(expected, found, ranked_by, allowed)
    all_scores = [*expected.values(), *(scores or {}).values()]
    comparison, ties = Comparison(), _all_ties(expected, found, tolerance, all_scores)
    options: dict[str, Any] = {"tolerance": tolerance, "scores": scores, "ranked_by": ranked_by}
    for name, value in sorted(expected.items()):
        if isinstance(value, Mapping):
            result = compare(value, found[name], **options)
        else:
            arrays = np.asarray(value), np.asarray(found[name])
            result = _compare_arrays(name, *arrays, tolerance, ties)
        comparison = comparison.merge(result)
    return comparison


def compare_batches(
    expected: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    found: Iterable[Mapping[str, Any]],
    *,
    tolerance: float,
    ranked_by: str = "",
) -> Comparison:
    """Compares the outputs of several batches.

    Args:
      expected: outputs of the restored session and further scores, for each batch.
      found: outputs of the exported model, for each batch.
      tolerance, ranked_by: see `compare`.

    Raises:
      DifferenceError: an output differs.
    """
    results = (
        compare(arrays, outputs, tolerance=tolerance, scores=scores, ranked_by=ranked_by)
        for (arrays, scores), outputs in zip(expected, found, strict=True)
    )
    return functools.reduce(Comparison.merge, results, Comparison())


@contextlib.contextmanager
def translated_run_errors(format_name: str) -> Iterator[None]:
    """Turns errors of an exported model that runs into a `DifferenceError`."""
    try:
        yield
    except tf.errors.OpError as error:
        raise DifferenceError(
            f"the {format_name} was written, but cannot be run: {short_reason(error)}\n"
            "it was removed"
        ) from error


def check_shape(name: str, expected: Any, found: Any) -> None:
    """Raises a `DifferenceError` if two arrays of the output `name` have different shapes."""
    if expected.shape != found.shape:
        raise DifferenceError(
            f"the output {name} of the exported model has the shape {list(found.shape)}; "
            f"expected: {list(expected.shape)}"
        )


def output_scale(expected: Any) -> float:
    """Returns the unit of differences of a floating-point output."""
    finite = np.abs(expected[np.isfinite(expected)])
    return max(1.0, float(finite.max(initial=0.0)))


def _compare_arrays(
    name: str, expected: Any, found: Any, tolerance: float, ties: Mapping[str, Any]
) -> Comparison:
    check_shape(name, expected, found)
    if _is_float(expected):
        return Comparison(_float_difference(name, expected, found, tolerance), name)
    differs = expected != found
    if not differs.any():
        return Comparison()
    if expected.dtype.kind in "OS":
        differs &= ~_any(tied for tied in ties.values() if tied.shape == expected.shape)
        if not differs.any():
            return Comparison()
    elif name in ties:
        tied = differs & ties[name]
        if tied.sum() == differs.sum():
            return Comparison(ties=int(tied.sum()))
        differs &= ~tied
    raise DifferenceError(_elements(name, expected, found, differs))


def _float_difference(name: str, expected: Any, found: Any, tolerance: float) -> float:
    expected, found = _wide(expected), _wide(found)
    finite = np.isfinite(expected) & np.isfinite(found)
    same = (expected == found) | (np.isnan(expected) & np.isnan(found))
    if not (finite | same).all():
        raise DifferenceError(_elements(name, expected, found, ~(finite | same)))
    scale = output_scale(expected)
    differences = np.zeros(expected.shape)
    differences[finite] = np.abs(expected[finite] - found[finite]) / scale
    largest = float(differences.max(initial=0.0))
    if largest > tolerance:
        where = _elements(name, expected, found, differences > tolerance)
        raise DifferenceError(
            f"{where}; the largest difference is {largest:.2g} of the scale {scale:.4g}, "
            f"allowed: {tolerance:g}"
        )
    return largest


def _all_ties(
    expected: Mapping[str, Any], found: Mapping[str, Any], tolerance: float, all_scores: list[Any]
) -> dict[str, Any]:
    """Returns name -> mask of elements that are another class of nearly the same score."""
    all_scores = [np.asarray(scores) for scores in all_scores if not isinstance(scores, Mapping)]
    ties = {}
    for name, value in expected.items():
        if isinstance(value, Mapping):
            continue
        classes, found_classes = np.asarray(value), np.asarray(found[name])
        if np.issubdtype(classes.dtype, np.integer) and classes.shape == found_classes.shape:
            tied = find_ties(classes, found_classes, tolerance, all_scores)
            ties[name] = (classes != found_classes) & tied
    return ties


def _any(masks: Iterable[Any]) -> Any:
    """Returns where any mask is True; False without masks."""
    return functools.reduce(np.logical_or, masks, np.False_)


def find_ties(expected: Any, found: Any, tolerance: float, all_scores: list[Any]) -> Any:
    """Returns a mask of the elements of `found` with the highest score within tolerance."""
    tied = np.zeros(expected.shape, bool)
    for scores in all_scores:
        if not (_is_float(scores) and scores.shape[:-1] == expected.shape and scores.ndim):
            continue
        scores, num_classes = _wide(scores), scores.shape[-1]
        both = np.stack([expected, found])
        if both.min() < 0 or both.max() >= num_classes:
            continue
        highest = scores.max(axis=-1)
        allowed = highest - 2 * tolerance * output_scale(scores)
        expected_scores, found_scores = (
            np.take_along_axis(scores, classes[..., np.newaxis].astype(np.int64), axis=-1)[..., 0]
            for classes in both
        )
        # An array holds the scores only if every expected class has the highest score.
        if (expected_scores >= allowed).all():
            tied |= found_scores >= allowed
    return tied


def _is_float(array: Any) -> bool:
    """Returns whether an array is floating-point or complex; bfloat16 is not a NumPy kind."""
    return array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float"))


def _wide(array: Any) -> Any:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _elements(name: str, expected: Any, found: Any, differs: Any) -> str:
    place = tuple(int(index) for index in np.argwhere(differs)[0])
    return (
        f"{int(differs.sum())} of {differs.size} elements of the output {name} differ, the first "
        f"at {list(place)}: {found[place]!s} where the restored session has {expected[place]!s}"
    )


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names)) or "none"
