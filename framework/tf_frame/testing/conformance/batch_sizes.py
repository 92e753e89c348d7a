"""Evaluates the same four examples in batches of several sizes; the figures must be equal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.plugin import InputContext, Mode

# The sizes of the batches, of each evaluation; the last batch of the first one is uneven.
SIZES = ((3, 1), (1, 1, 1, 1), (2, 2))
# Of a loss, and of metrics: one pixel of two equal logits may get another class.
_TOLERANCES = {"loss": {"rtol": 1e-3, "atol": 1e-6}}
_OF_METRICS = {"rtol": 1e-2, "atol": 1e-3}


@dataclasses.dataclass
class Regrouped:
    """An input that evaluates its first four examples in batches of `SIZES`.

    Attributes:
      source: the input.
      is_regrouped: whether the batches have these sizes. Otherwise they are those of the source:
        it returned no data sets, or batches of a fixed size.
    """

    source: Any
    is_regrouped: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the batches of a mode, for evaluation in the sizes of the class."""
        if mode != Mode.EVAL:
            return self.source.dataset(mode, context)
        threes, ones, twos = (
            self.source.dataset(mode, dataclasses.replace(context, batch_size=size))
            for size in (3, 1, 2)
        )
        several = isinstance(twos, (list, tuple))
        parts = list(zip(threes, ones, twos, strict=True)) if several else [(threes, ones, twos)]
        self.is_regrouped = all(map(_can_be_joined, parts))
        if not self.is_regrouped:
            return twos
        joined = [
            threes.take(1)
            .concatenate(ones.skip(3).take(1))
            .concatenate(ones.take(4))
            .concatenate(twos.take(2))
            for threes, ones, twos in parts
        ]
        return joined if several else joined[0]


def _can_be_joined(part: Sequence[Any]) -> bool:
    is_dataset = all(isinstance(batches, tf.compat.v2.data.Dataset) for batches in part)
    return is_dataset and part[0].element_spec == part[1].element_spec == part[2].element_spec


def evaluate_groups(session: Any, update: Any, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Runs the batches of a `Regrouped` input, and returns the values of each evaluation.

    Args:
      session: an initialised session.
      update: takes a batch.
      values: name -> tensor.

    Raises:
      tf.errors.OutOfRangeError: there are fewer than four examples.
    """
    figures = []
    for sizes in SIZES:
        session.run(tf.local_variables_initializer())
        for _ in sizes:
            session.run(update)
        figures.append(session.run(dict(values)))
    return figures


def first_difference(figures: Sequence[Mapping[str, Any]]) -> str:
    """Describes the first number that is not equal in all evaluations; empty without any."""
    for name in figures[0]:
        values = [np.asarray(evaluation[name]) for evaluation in figures]
        if values[0].ndim or values[0].dtype.kind not in "fiub":
            continue
        tolerance = _TOLERANCES.get(name, _OF_METRICS)
        if not all(np.allclose(v, values[0], equal_nan=True, **tolerance) for v in values):
            described = (
                f"{float(value):.5g} in batches of {' and '.join(map(str, sorted(set(sizes))))}"
                for value, sizes in zip(values, SIZES, strict=True)
            )
            return f"{name} of the same 4 examples is {', '.join(described)}"
    return ""
