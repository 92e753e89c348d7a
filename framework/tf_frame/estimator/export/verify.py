"""Whether an exported model computes what the restored session computed.

    comparison = compare(expected, found, tolerance=1e-5)
    comparison.largest_difference  # 3e-8

The rule, output by output:

* Floating point: no element may differ by more than `tolerance` times the
  output's scale, the largest finite absolute value expected in it, or 1 where
  that is smaller. So the bound is absolute for probabilities and relative for
  large values. What is not finite has to be the same.
* Integers, such as maps of classes: equal. The one exception are ties: where
  floating-point scores of the classes are known, one for each class in a last
  dimension, an element may be another class whose score is within twice the
  tolerance of the highest (each of the two scores may be off by one).
* Text and truth values: equal.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError, reason_of


class DifferenceError(TfFrameError):
    """An exported model does not compute what the restored session does."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What a comparison within tolerance found.

    Attributes:
      largest_difference: of all floating-point outputs, in units of their scale.
      output: the name of the output that it is in; empty if there is none.
      ties: elements of integer outputs that are another class of (nearly) the same score.
    """

    largest_difference: float = 0.0
    output: str = ""
    ties: int = 0

    def joined(self, other: Comparison) -> Comparison:
        """Both as one."""
        takes_other = other.output and other.largest_difference >= self.largest_difference
        larger = other if takes_other else self
        return dataclasses.replace(larger, ties=self.ties + other.ties)


def compare(
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    tolerance: float,
    scores: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compares outputs by the rule of the module.

    Args:
      expected: output name -> array, of the restored session.
      found: the same of the exported model.
      tolerance: largest difference, in units of an output's scale.
      scores: more arrays of the restored session, whatever their names, where
        the scores behind integer outputs may be found beside `expected`.

    Raises:
      DifferenceError: they differ by more; the message names output and element.
    """
    if set(expected) != set(found):
        raise DifferenceError(
            f"the exported model has the outputs {_listed(found)}; expected: {_listed(expected)}"
        )
    known = [np.asarray(array) for array in [*expected.values(), *(scores or {}).values()]]
    comparison = Comparison()
    for name in sorted(expected):
        pair = np.asarray(expected[name]), np.asarray(found[name])
        comparison = comparison.joined(_compared(name, *pair, tolerance, known))
    return comparison


def compare_signatures(
    expected: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, Mapping[str, Any]],
    *,
    tolerance: float,
    scores: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compares the outputs of several signatures; see `compare`.

    Args:
      expected: signature name -> output name -> array, of the restored session.
      found: the same of the exported model, for signatures that it has.
      tolerance: largest difference, in units of an output's scale.
      scores: more arrays of the restored session.
    """
    comparison = Comparison()
    for name, outputs in found.items():
        new = compare(expected[name], outputs, tolerance=tolerance, scores=scores)
        comparison = comparison.joined(new)
    return comparison


@contextlib.contextmanager
def runnable(what: str) -> Iterator[None]:
    """Turns the error of an exported model that cannot be run into one of ours.

    Args:
      what: what it is, for the message.
    """
    try:
        yield
    except tf.errors.OpError as error:
        raise DifferenceError(
            f"the {what} was written, but cannot be run: {reason_of(error)}\nit was removed"
        ) from error


def scale_of(expected: Any) -> float:
    """The unit in which differences of an output are told.

    Args:
      expected: floating-point array of any shape.
    """
    finite = np.abs(expected[np.isfinite(expected)])
    return max(1.0, float(finite.max(initial=0.0)))


def _compared(
    name: str, expected: Any, found: Any, tolerance: float, known: list[Any]
) -> Comparison:
    if expected.shape != found.shape:
        raise DifferenceError(
            f"the output {name} of the exported model has the shape {list(found.shape)}; "
            f"expected: {list(expected.shape)}"
        )
    if _is_float(expected):
        return Comparison(_float_difference(name, expected, found, tolerance), name)
    differs = expected != found
    if not differs.any():
        return Comparison()
    if np.issubdtype(expected.dtype, np.integer):
        tied = differs & _ties(expected, found, tolerance, known)
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
    scale = scale_of(expected)
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


def _ties(expected: Any, found: Any, tolerance: float, known: list[Any]) -> Any:
    """Which elements of `found` are classes whose score is the highest within tolerance."""
    tied = np.zeros(expected.shape, bool)
    for scores in known:
        if not (_is_float(scores) and scores.shape[:-1] == expected.shape and scores.ndim):
            continue
        scores, classes = _wide(scores), scores.shape[-1]
        both = np.stack([expected, found])
        if both.min() < 0 or both.max() >= classes:
            continue
        highest = scores.max(axis=-1)
        allowed = highest - 2 * tolerance * scale_of(scores)
        of_expected, of_found = (_taken(scores, indices) for indices in both)
        # Only scores that explain every class that was expected are the scores behind it.
        if (of_expected >= allowed).all():
            tied |= of_found >= allowed
    return tied


def _taken(scores: Any, indices: Any) -> Any:
    return np.take_along_axis(scores, indices[..., np.newaxis].astype(np.int64), axis=-1)[..., 0]


def _is_float(array: Any) -> bool:
    """Whether an array holds floating-point or complex numbers; bfloat16 is of no NumPy kind."""
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
