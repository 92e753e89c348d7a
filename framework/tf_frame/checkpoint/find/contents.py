"""Descriptions and differences of checkpoints, read from their files without a graph.

`tf-frame checkpoint list`, `show` and `diff` print them: which checkpoints are damaged, which
variables hold NaN, and in which variables two checkpoints differ.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import damage_of, known_checkpoints
from tf_frame.checkpoint.find.path import checkpoints_in, files_of, prefix_of
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Entry:
    """A checkpoint in a folder.

    Attributes:
      path: its path prefix.
      step: its global step; None if it holds none.
      saved_at_secs: when its newest file was written, in seconds since 1970; None
        without files.
      size_bytes: size of all its files.
      damage: the reason why it cannot be read; empty for a sound one.
      variables: number of variables; None if it cannot be read.
      parameters: number of values in all variables, those of the optimizer included;
        None if it cannot be read.
    """

    path: str
    step: int | None
    saved_at_secs: float | None
    size_bytes: int
    damage: str
    variables: int | None
    parameters: int | None


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Summary of the values of a variable; None where there is nothing to compute.

    Attributes:
      min, max, mean, norm: of the finite values; the norm is Euclidean.
      nan: number of values that are NaN.
      infinite: number of values that are infinite.
    """

    min: float | None
    max: float | None
    mean: float | None
    norm: float | None
    nan: int
    infinite: int


@dataclasses.dataclass(frozen=True)
class Content:
    """A variable in a checkpoint.

    Attributes:
      name, shape: its name and shape.
      dtype: the name of its type.
      size: number of values.
      size_bytes: its size in memory; None for texts.
      statistics: of its values, if asked for and if they are real numbers.
    """

    name: str
    shape: Sequence[int]
    dtype: str
    size: int
    size_bytes: int | None
    statistics: Statistics | None


def list_checkpoints(folder: str) -> Sequence[Entry]:
    """Describes every checkpoint of a folder, oldest first; reads each one once.

    Checkpoints that the `checkpoint` file lists but that are gone count as damaged.

    Raises:
      ConfigError: there is no such folder.
    """
    if not tf.io.gfile.isdir(folder):
        raise ConfigError(
            f"{folder} is no folder; tf-frame checkpoint show {prefix_of(folder)} describes one "
            "checkpoint"
            if tf.io.gfile.exists(prefix_of(folder) + ".index")
            else f"there is no folder {folder}"
        )
    there = checkpoints_in(folder)
    gone = [path for path in known_checkpoints(folder) if path not in there]
    return [_entry(path) for path in [*gone, *there]]


def _entry(path: str) -> Entry:
    stats = [tf.io.gfile.stat(file) for file in files_of(path)]
    saved_at_secs = max((stat.mtime_nsec / 1e9 for stat in stats), default=None)
    size_bytes = sum(stat.length for stat in stats)
    damage = damage_of(path)
    if damage:
        return Entry(path, None, saved_at_secs, size_bytes, damage, None, None)
    held = Checkpoint(path)
    return Entry(
        path, held.global_step, saved_at_secs, size_bytes, "", len(held.names), held.parameters
    )


def contents_of(
    checkpoint: Checkpoint, *, pattern: re.Pattern[str] | None = None, values: bool = False
) -> Sequence[Content]:
    """Describes the variables of a checkpoint, ordered by name.

    Args:
      checkpoint: the checkpoint.
      pattern: describes only variables in whose names it is found.
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
    """The value, or None for a sum beyond the range of 64 bits."""
    return float(value) if math.isfinite(value) else None


@dataclasses.dataclass(frozen=True)
class Difference:
    """The differences between two checkpoints.

    Attributes:
      only_in_first, only_in_second: names of variables.
      other_shapes: (name, type and shape in the first, in the second).
      other_values: (name, largest absolute difference); None for texts, and
        where only one of the two values is NaN or infinite.
      same: names of equal variables; NaN equals NaN.
    """

    only_in_first: Sequence[str]
    only_in_second: Sequence[str]
    other_shapes: Sequence[tuple[str, str, str]]
    other_values: Sequence[tuple[str, float | None]]
    same: Sequence[str]

    @property
    def any(self) -> bool:
        """True if the checkpoints differ in anything."""
        return bool(
            self.only_in_first or self.only_in_second or self.other_shapes or self.other_values
        )


def difference(first: Checkpoint, second: Checkpoint) -> Difference:
    """Compares names, types, shapes and values, one variable at a time."""
    shapes, values, same = [], [], []
    for name in (name for name in first.names if name in second):
        described = first.described(name), second.described(name)
        if described[0] != described[1]:
            shapes.append((name, *described))
            continue
        a, b = first.read(name), second.read(name)
        if _equal(a, b):
            same.append(name)
        else:
            values.append((name, _largest(a, b)))
    return Difference(
        [name for name in first.names if name not in second],
        [name for name in second.names if name not in first],
        shapes,
        values,
        same,
    )


def _equal(a: Any, b: Any) -> bool:
    same = a == b
    if a.dtype != object:
        same |= (a != a) & (b != b)
    return bool(np.all(same))


def _largest(a: Any, b: Any) -> float | None:
    """The largest absolute difference of two arrays that are not equal."""
    if a.dtype == object:
        return None
    if a.dtype.kind in "iu":
        # Two's complement is exact in all 64 bits; floats have 53.
        return float(
            (np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)).max()
        )
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        apart = np.abs(a.astype(wide) - b.astype(wide))
    # Equal infinities and a NaN in both are no difference, though they subtract to NaN.
    largest = float(apart[~((a == b) | ((a != a) & (b != b)))].max())
    return largest if math.isfinite(largest) else None
