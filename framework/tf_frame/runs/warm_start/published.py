"""Options of a warm start from published weights: the variables of their network."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tf_frame.checkpoint.warm_start.plan import WarmStart
from tf_frame.checkpoint.warm_start.rows import Outcome
from tf_frame.errors import CheckpointError
from tf_frame.plugin.weights_contract import Weights
from tf_frame.text import listed

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


@contextlib.contextmanager
def naming_network(name: str, weights: Weights | None) -> Iterator[None]:
    """Names the network of published weights in the error of values that fit no variable."""
    try:
        yield
    except CheckpointError as error:
        if weights is None:
            raise
        raise CheckpointError(
            f"{error}\nThe weights {name} are those of the network {weights.network}"
        ) from None


def notes_on_classes(
    plan: WarmStart, weights: Weights | None, class_names: Sequence[str]
) -> Iterator[str]:
    """Yields a note where the last layer begins with other classes than those of the run."""
    names = weights.class_names() if weights else ()
    is_whole = all(row.outcome == Outcome.RESTORED for row in plan.rows)
    if names and class_names and is_whole and list(names) != list(class_names):
        yield (
            f"note: the last layer begins with what it knows of {listed(names)}, and learns "
            f"{listed(class_names)}"
        )


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
