"""The mean of several checkpoints of one model.

Averaging the last checkpoints of a run often evaluates better than the last one
alone (Izmailov et al. 2018, arXiv:1803.05407; Vaswani et al. 2017,
arXiv:1706.03762, section 6.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import find_checkpoints, resolve_checkpoint, same_path
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.rewrite.output import NamedArray, check_destination, write_checkpoint
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.text import indented, short


def find_sources(paths: Sequence[str], *, last: int | None, but: str) -> Sequence[str]:
    """Finds the checkpoints to be averaged.

    Args:
      paths: checkpoints, or one folder, which stands for all checkpoints in it.
      last: number of newest checkpoints to take from the folder; None takes all.
      but: path prefix of the new checkpoint, which is no source.

    Returns:
      Path prefixes, oldest first.

    Raises:
      ConfigError: fewer than two are left, or `last` is given without a folder.
      CheckpointError: a checkpoint does not exist.
    """
    if len(paths) == 1 and tf.io.gfile.isdir(paths[0]):
        sources = [path for path in find_checkpoints(paths[0]) if not same_path(path, but)]
        sources = sources if last is None else sources[-last:]
    elif last is not None:
        raise ConfigError(f"--last {last} takes the newest of one folder; name the folder alone")
    else:
        sources = [resolve_checkpoint(path) for path in paths]
    if len(sources) < 2:
        raise ConfigError(
            f"an average takes two checkpoints or more, and there are {len(sources)}: "
            f"{', '.join(map(short, sources)) or 'none'}"
        )
    return sources


def average(sources: Sequence[str], path: str, *, overwrite: bool = False) -> tuple[int, int]:
    """Writes the mean of checkpoints, one variable at a time.

    Real and complex variables are added in 64 bits per number and rounded once, to their
    type. The last checkpoint gives the values of other types, such as the global step.

    Args:
      sources: path prefixes; two at least.
      path, overwrite: see `check_destination`.

    Returns:
      The number of averaged variables, and of variables from the last checkpoint.

    Raises:
      CheckpointError: the checkpoints have different variables, or cannot be read, or the mean
        cannot be written.
      ConfigError: nothing can be written to `path`.
    """
    prefix = check_destination(path, sources, overwrite=overwrite)
    checkpoints = [Checkpoint(source) for source in sources]
    for checkpoint in checkpoints[:-1]:
        _check_same_variables(checkpoint, checkpoints[-1])
    write_checkpoint(prefix, _means(checkpoints))
    last = checkpoints[-1]
    averaged = sum(_has_mean(last.dtype(name)) for name in last.names)
    return averaged, len(last.names) - averaged


def _has_mean(dtype: Any) -> bool:
    return bool(dtype.is_floating or dtype.is_complex)


def _means(checkpoints: Sequence[Checkpoint]) -> Iterator[NamedArray]:
    last = checkpoints[-1]
    for name in last.names:
        dtype = last.dtype(name)
        if _has_mean(dtype):
            yield name, dtype, _mean(checkpoints, name).astype(dtype.as_numpy_dtype)
        else:
            yield name, dtype, last.read(name)


def _mean(checkpoints: Sequence[Checkpoint], name: str) -> Any:
    wide = np.complex128 if checkpoints[-1].dtype(name).is_complex else np.float64
    total = np.zeros(checkpoints[-1].shape(name), wide)
    for checkpoint in checkpoints:
        total += checkpoint.read(name).astype(wide)
    # Dividing in place keeps an array of shape [] an array.
    total /= len(checkpoints)
    return total


def _check_same_variables(first: Checkpoint, last: Checkpoint) -> None:
    differences = [f"{name}: only in {last.path}" for name in last.names if name not in first]
    differences += [f"{name}: only in {first.path}" for name in first.names if name not in last]
    for name in last.names:
        if name in first and first.type_and_shape(name) != last.type_and_shape(name):
            types = f"{first.type_and_shape(name)} and {last.type_and_shape(name)}"
            differences.append(f"{name}: {types}")
    if differences:
        raise CheckpointError(
            f"{short(first.path)} and {short(last.path)} are checkpoints of different models:\n"
            f"{indented(differences)}\nonly checkpoints with the same variables have an average"
        )
