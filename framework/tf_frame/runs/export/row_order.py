"""Rows of an output that are sorted by a score, such as detections: the order where scores tie.

An exported model rounds scores in another way, so rows whose scores are nearly equal may come in
another order, which no program can rely on. Before outputs are compared, the rows of the export
are put in the order of the restored session; only rows whose scores tie change places. An export
whose own scores do not fall keeps its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def align_tied_rows(
    expected: Mapping[str, Any], found: Mapping[str, Any], ranked_by: str, allowed: float
) -> Mapping[str, Any]:
    """Returns `found` with its tied rows in the order of the most similar rows of `expected`.

    Args:
      expected: output name -> array of the restored session.
      found: the same of the exported model.
      ranked_by: name of the output `[batch, rows]` by which the rows of each example fall; rows
        are those of every output of `[batch, rows, ...]`. Without this output nothing changes.
      allowed: scores that differ by at most so much tie.
    """
    scores, others = np.asarray(expected.get(ranked_by)), np.asarray(found.get(ranked_by))
    if scores.ndim != 2 or scores.shape != others.shape or (np.diff(others) > 0).any():
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
            np.abs(scores[i][:, None] - others[i]) <= allowed,
        )
        for i in range(len(scores))
    ]
    rows = np.arange(len(scores))[:, None], np.reshape(np.array(order, int), scores.shape)
    return {**found, **{name: np.asarray(found[name])[rows] for name in names}}


def _order(pairs: list[tuple[Any, Any]], tied: Any) -> Any:
    """Numbers of the found rows, one for each expected row: of the tied ones the most similar.

    Args:
      pairs: expected and found rows `[rows, columns]` of each output.
      tied: `[rows, rows]`, which expected and found rows may belong together.
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
    # Rows without a partner take the rest, which differ.
    order[order < 0] = np.flatnonzero(free)
    return order


def _columns(rows: Any) -> Any:
    return np.asarray(rows, np.float64).reshape(len(rows), -1)
