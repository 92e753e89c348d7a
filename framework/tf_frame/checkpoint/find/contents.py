"""What a checkpoint holds."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Values of one variable in short; None where there is nothing to compute it from.

    Attributes:
      min, max, mean, norm: of the values that are finite; the norm is Euclidean.
      nan: how many values are NaN.
      infinite: how many are infinite.
    """

    min: float | None
    max: float | None
    mean: float | None
    norm: float | None
    nan: int
    infinite: int


@dataclasses.dataclass(frozen=True)
class Content:
    """One variable.

    Attributes:
      name, shape: its name and shape.
      dtype: the name of its type.
      size: how many numbers it holds.
      size_bytes: its size in memory; None for texts.
      statistics: of its values, if asked for and if they are real numbers.
    """

    name: str
    shape: Sequence[int]
    dtype: str
    size: int
    size_bytes: int | None
    statistics: Statistics | None


def contents_of(
    checkpoint: Checkpoint, *, pattern: re.Pattern[str] | None = None, values: bool = False
) -> Sequence[Content]:
    """Describes the variables of a checkpoint, ordered by name.

    Args:
      checkpoint: the checkpoint.
      pattern: only variables in whose names it is found.
      values: whether to read the values too, one variable at a time.

    Raises:
      ConfigError: the pattern is found in no name.
      CheckpointError: the data file is damaged.
    """
    names = [name for name in checkpoint.names if pattern is None or pattern.search(name)]
    if pattern is not None and not names:
        near = nearest(pattern.pattern, checkpoint.names)
        hint = f"; did you mean {near!r}?" if near else ""
        raise ConfigError(
            f"--filter {pattern.pattern!r} is found in none of the {len(checkpoint.names)} names "
            f"in {checkpoint.path}{hint}"
        )
    return [
        Content(
            name,
            checkpoint.shape(name),
            checkpoint.dtype(name).name,
            checkpoint.size(name),
            checkpoint.num_bytes(name),
            _statistics(checkpoint, name) if values else None,
        )
        for name in names
    ]


def _statistics(checkpoint: Checkpoint, name: str) -> Statistics | None:
    dtype = checkpoint.dtype(name)
    if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
        return None
    return statistics_of(checkpoint.read(name))


def statistics_of(values: Any) -> Statistics:
    """Computes the statistics of an array of real numbers, in 64 bits."""
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    infinite = numbers.size - finite.size - nan
    if not finite.size:
        return Statistics(None, None, None, None, nan, infinite)
    exact = values if values.dtype.kind in "iu" else finite
    with np.errstate(over="ignore"):
        mean, norm = finite.mean(), np.linalg.norm(finite)
    return Statistics(
        exact.min().item(),
        exact.max().item(),
        _representable(mean),
        _representable(norm),
        nan,
        infinite,
    )


def _representable(value: Any) -> float | None:
    """None for a sum that left the range of 64 bits."""
    return float(value) if math.isfinite(value) else None
