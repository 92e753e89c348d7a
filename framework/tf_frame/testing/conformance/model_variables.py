"""Variables of graphs in words, and how those of two graphs differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf


def described(variables: Any) -> dict[str, str]:
    """Name -> type and shape of global variables, or of those of a graph."""
    if isinstance(variables, tf.Graph):
        variables = variables.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    return {
        v.op.name: f"{v.dtype.base_dtype.name} {v.shape}"
        + (" trainable" if getattr(v, "trainable", False) else "")
        for v in variables
    }


def difference(first: Mapping[str, str], second: Mapping[str, str]) -> str:
    """The first variables that differ, in words."""
    names = [n for n in {**first, **second} if first.get(n) != second.get(n)]
    return ", ".join(
        f"{n} ({first.get(n, 'not there')}, then {second.get(n, 'not there')})" for n in names[:3]
    )


def check_no_more(trained: Mapping[str, str], there: Mapping[str, str], purpose: str) -> None:
    """Fails if a graph has other variables than training.

    Args:
      trained: the variables of training, as `described` returns them.
      there: those of the graph.
      purpose: of the graph, for the message.
    """
    missing = [name for name in there if name not in trained]
    assert not missing, (
        f"the graph for {purpose} has variables that training does not make, so that no checkpoint "
        f"has them: {', '.join(missing[:5])}; make them for training as well, or as local variables"
    )
    other = [
        f"{name} ({there[name]}, in training {trained[name]})"
        for name in there
        if there[name].removesuffix(" trainable") != trained[name].removesuffix(" trainable")
    ]
    assert not other, f"variables for {purpose} have another shape or type: {', '.join(other[:3])}"
