"""Options of a warm start from published weights: the variables of their network."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

_LENIENT = {"warm_start_ignore_missing": True, "warm_start_skip_mismatched": True}


def options_for_weights(names: Collection[str], checkpoint: Collection[str]) -> dict[str, Any]:
    """Returns options that restore the variables that a graph and published weights share.

    A layer for other classes, and layers above the network, begin with their initial values.

    Args:
      names: names of the variables of the graph.
      checkpoint: names of the variables of the weights, which may have the network in another
        scope: a classifier has `MobilenetV2/...`, a detector `FeatureExtractor/MobilenetV2/...`.
    """
    published = set(checkpoint)
    best, most = "", len(published.intersection(names))
    for rule, renamed in _scopes(names, checkpoint):
        count = len(published.intersection(renamed))
        if count > most:
            best, most = rule, count
    return {**_LENIENT, "warm_start_map": (best,) if best else ()}


def _scopes(
    names: Collection[str], checkpoint: Collection[str]
) -> Iterator[tuple[str, Collection[str]]]:
    """Yields rules that add or remove a first scope, and the names of the graph by each rule."""
    for scope in _first_scopes(checkpoint):
        yield f"(.*)={scope}/\\1", [f"{scope}/{name}" for name in names]
    for scope in _first_scopes(names):
        below = [name.removeprefix(f"{scope}/") for name in names if name.startswith(f"{scope}/")]
        yield f"{re.escape(scope)}/(.*)=\\1", below


def _first_scopes(names: Collection[str]) -> list[str]:
    return list(dict.fromkeys(name.partition("/")[0] for name in names if "/" in name))
