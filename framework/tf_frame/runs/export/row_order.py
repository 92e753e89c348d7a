"""Puts rows with tied scores, such as detections, in the same order before outputs are compared.

An exported model rounds scores in another way, so rows with nearly equal scores may change places.
Such rows of the export are put in the order of the restored session. An output with rows that are
not sorted by the score stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def align_tied_rows(
    expected: Mapping[str, Any], found: Mapping[str, Any], ranked_by: str, allowed: float
) -> Mapping[str, Any]:
    """Returns `found` with tied rows in the order of the most similar rows of `expected`.

    Args:
      expected: output name -> array of the restored session.
      found: output name -> array of the exported model.
      ranked_by: name of the output `[batch, rows]` with scores that fall from row to row. Every
        output of shape `[batch, rows, ...]` has these rows. Without this output nothing changes.
      allowed: largest difference of tied scores.
    """
    scores, found_scores = np.asarray(expected.get(ranked_by)), np.asarray(found.get(ranked_by))
    if scores.ndim != 2 or scores.shape != found_scores.shape:
        return found
    if (np.diff(found_scores) > 0).any():
        return found
    names = [
        name
        for name, value in expected.items()
        if np.shape(value)[:2] == scores.shape
        and name in found
        and np.shape(found[name]) == np.shape(value)
        if np.asarray(value).dtype.kind in "biuf"
    ]
    order = [
        _order(
            [(_columns(expected[name][i]), _columns(found[name][i])) for name in names],
            np.abs(scores[i][:, None] - found_scores[i]) <= allowed,
        )
        for i in range(len(scores))
    ]
    rows = np.arange(len(scores))[:, None], np.reshape(np.array(order, int), scores.shape)
    return {**found, **{name: np.asarray(found[name])[rows] for name in names}}


def _order(pairs: list[tuple[Any, Any]], tied: Any) -> Any:
    """Returns, for each expected row, the index of the most similar tied row.

    Args:
      pairs: expected and found rows `[rows, columns]` of each output.
      tied: `[rows, rows]`: whether an expected row and a found row have tied scores.
    """
    distances = sum(np.abs(a[:, None] - b).max(axis=-1, initial=0.0) for a, b in pairs)
    distances = np.where(tied, distances, np.inf)
    order, free = np.full(len(tied), -1), np.ones(len(tied), bool)
    # The rows with the nearest partner choose first.
    for row in np.argsort(distances.min(axis=1, initial=np.inf), kind="stable"):
        candidates = np.where(free, distances[row], np.inf)
        best = int(np.argmin(candidates))
        if np.isfinite(candidates[best]):
            order[row], free[best] = best, False
    # Rows without a partner take the remaining rows, and will differ.
    order[order < 0] = np.flatnonzero(free)
    return order


def _columns(rows: Any) -> Any:
    return np.asarray(rows, np.float64).reshape(len(rows), -1)
