"""Describes and compares checkpoints by their files, without a graph.

`tf-frame checkpoint list`, `show` and `diff` print the results: damaged checkpoints, variables with
NaN, and variables that differ between two checkpoints.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints
from tf_frame.checkpoint.find.path import checkpoint_files, find_checkpoints
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.names import BRACKET, INDEX, check_no_pattern, checkpoint_prefix
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.text import brief, short


@dataclasses.dataclass(frozen=True)
class Entry:
    """A checkpoint in a folder.

    Attributes:
      path: the path prefix.
      step: the global step; None if there is none.
      saved_at_secs: modification time of the newest file, in seconds since 1970; None
        without files.
      size_bytes: size of all files.
      damage: the reason why the checkpoint cannot be read; empty if it can.
      variables: number of variables; None for a damaged checkpoint.
      parameters: number of values in all variables, the optimizer's included; None for a
        damaged checkpoint.
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
    """Summary of the values of a variable.

    Attributes:
      min, max, mean, norm: of the finite values; None without any. The norm is Euclidean.
      nan, infinite: number of values that are NaN, that are infinite.
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
      name, shape: name and shape.
      dtype: name of the type.
      size: number of values.
      size_bytes: size in memory; None for texts.
      statistics: summary of the values; None if it was not asked for, or if the values are not
        real numbers.
    """

    name: str
    shape: Sequence[int]
    dtype: str
    size: int
    size_bytes: int | None
    statistics: Statistics | None


def list_checkpoints(folder: str) -> Sequence[Entry]:
    """Describes every checkpoint of a folder, oldest first; reads each one once.

    A checkpoint in the `checkpoint` file without files counts as damaged.

    Raises:
      ConfigError: there is no such folder, or TensorFlow cannot read checkpoints in it.
    """
    check_no_pattern(folder, "the folder", BRACKET)
    if not tf.io.gfile.isdir(folder):
        prefix = checkpoint_prefix(folder)
        raise ConfigError(
            f"{short(folder)} is no folder; tf-frame checkpoint show {prefix} describes one "
            "checkpoint"
            if tf.io.gfile.exists(prefix + INDEX)
            else f"there is no folder {short(folder)}"
        )
    existing = find_checkpoints(folder)
    deleted = [path for path in listed_checkpoints(folder) if path not in existing]
    return [_describe(path) for path in [*deleted, *existing]]


def _describe(path: str) -> Entry:
    stats = [tf.io.gfile.stat(file) for file in checkpoint_files(path)]
    saved_at_secs = max((stat.mtime_nsec / 1e9 for stat in stats), default=None)
    size_bytes = sum(stat.length for stat in stats)
    damage = find_damage(path)
    if damage:
        return Entry(path, None, saved_at_secs, size_bytes, damage, None, None)
    content = Checkpoint(path)
    variables, parameters = len(content.names), content.parameters
    return Entry(path, content.global_step, saved_at_secs, size_bytes, "", variables, parameters)


def describe_variables(
    checkpoint: Checkpoint, *, pattern: re.Pattern[str] | None = None, values: bool = False
) -> Sequence[Content]:
    """Describes the variables of a checkpoint, ordered by name.

    Args:
      pattern: describes only variables with a name that contains a match.
      values: whether to read the values too, one variable at a time.

    Raises:
      ConfigError: no name contains a match of the pattern.
      CheckpointError: the data file is damaged.
    """
    names = [name for name in checkpoint.names if pattern is None or pattern.search(name)]
    if pattern is not None and not names:
        near = nearest(pattern.pattern, checkpoint.names)
        hint = f"; did you mean {brief(near)}?" if near else ""
        raise ConfigError(
            f"--filter {brief(pattern.pattern)} is found in none of the {len(checkpoint.names)} "
            f"names in {short(checkpoint.path)}{hint}"
        )
    contents = []
    for name in names:
        dtype, shape = checkpoint.dtype(name), checkpoint.shape(name)
        is_real = dtype.is_floating or dtype.is_integer or dtype.is_bool
        statistics = compute_statistics(checkpoint.read(name)) if values and is_real else None
        sizes = checkpoint.size(name), checkpoint.num_bytes(name)
        contents.append(Content(name, shape, dtype.name, *sizes, statistics))
    return contents


def compute_statistics(values: Any) -> Statistics:
    """Computes the statistics of an array of real numbers, in 64 bits."""
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    infinite = numbers.size - finite.size - nan
    if not finite.size:
        return Statistics(None, None, None, None, nan, infinite)
    exact = values if values.dtype.kind in "iu" else finite
    with np.errstate(over="ignore"):
        figures = finite.mean(), np.linalg.norm(finite)
    # None after an overflow of 64 bits.
    mean, norm = (float(figure) if math.isfinite(figure) else None for figure in figures)
    return Statistics(exact.min().item(), exact.max().item(), mean, norm, nan, infinite)


@dataclasses.dataclass(frozen=True)
class Difference:
    """The differences between two checkpoints.

    Attributes:
      only_in_first, only_in_second: names of variables.
      other_shapes: (name, type and shape in the first, type and shape in the second).
      other_values: (name, largest absolute difference); the difference is None for texts, and
        if only one of the two values is NaN or infinite.
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


def compare_checkpoints(first: Checkpoint, second: Checkpoint) -> Difference:
    """Compares names, types, shapes and values, one variable at a time."""
    shapes, values, same = [], [], []
    for name in (name for name in first.names if name in second):
        types = first.type_and_shape(name), second.type_and_shape(name)
        if types[0] != types[1]:
            shapes.append((name, *types))
            continue
        a, b = first.read(name), second.read(name)
        if _equal(a, b):
            same.append(name)
        else:
            values.append((name, _largest_difference(a, b)))
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


def _largest_difference(a: Any, b: Any) -> float | None:
    """Returns the largest absolute difference of two arrays that are not equal."""
    if a.dtype == object:
        return None
    if a.dtype.kind in "iu":
        # Two's complement is exact in all 64 bits; floats have 53.
        return float(
            (np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)).max()
        )
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        distance = np.abs(a.astype(wide) - b.astype(wide))
    # The difference of equal infinities, or of two NaN, is NaN, but they count as equal.
    largest = float(distance[~((a == b) | ((a != a) & (b != b)))].max())
    return largest if math.isfinite(largest) else None
