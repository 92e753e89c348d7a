"""Search for the newest checkpoint of a model directory that can be read.

`tf.train.latest_checkpoint` returns the last path in the list, also if its files are damaged.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import READ_ERRORS
from tf_frame.errors import CheckpointError, reason_of
from tf_frame.text import indented

_LOG = logging.getLogger("tf_frame")


def newest_checkpoint(
    model_dir: str, report: Callable[[str], None] | None = None, *, readable: str | None = None
) -> str | None:
    """Finds the checkpoint to resume from.

    Damaged checkpoints are passed over with a warning; nothing is deleted. If all that the
    `checkpoint` file lists are damaged, unlisted ones count. Every tensor of a candidate is
    read (0.12 s for 100 MB), so pass the result on rather than ask again.

    Args:
      model_dir: the folder.
      report: takes a line for each checkpoint that is passed over, and then one that names
        the checkpoint found instead.
      readable: path prefix of a checkpoint that was read before, and is not read again.

    Returns:
      The path prefix (`.../model.ckpt-120`), or None if there never was a checkpoint.

    Raises:
      CheckpointError: there are checkpoints, but none can be read. Starting
        over would hide the loss of a run, so that is left to the user.
    """
    path, damages = newest_readable(checkpoints_by_age(model_dir), readable)
    if path is None and damages:
        raise CheckpointError(
            f"no checkpoint in {model_dir} can be read:\n{indented(damages, len(damages))}\n"
            "restore one from a backup, or start over in another --model_dir"
        )
    if damages and report is not None:
        for damage in damages:
            report(f"passing over a damaged checkpoint: {damage}")
        report(f"the newest checkpoint that can be read is {path}")
    return path


def newest_readable(
    paths: Sequence[str], readable: str | None = None
) -> tuple[str | None, Sequence[str]]:
    """Finds the last checkpoint of a list that can be read.

    Args:
      paths: path prefixes, oldest first.
      readable: path prefix of a checkpoint that needs not be read.

    Returns:
      The path prefix, or None; and a line about each damaged checkpoint that follows it.
    """
    damages: list[str] = []
    for path in reversed(paths):
        damage = "" if path == readable else damage_of(path)
        if not damage:
            return path, damages
        damages.append(f"{path}: {damage}")
        _LOG.warning("passing over a damaged checkpoint: %s", damages[-1])
    return None, damages


def checkpoints_by_age(model_dir: str) -> Sequence[str]:
    """Path prefixes of all checkpoints in a folder; those that are not listed come first."""
    listed = known_checkpoints(model_dir)
    names = {os.path.basename(path) for path in listed}
    others = [path for path in found_by_name(model_dir) if os.path.basename(path) not in names]
    return [*others, *listed]


def known_checkpoints(model_dir: str) -> Sequence[str]:
    """Path prefixes of the checkpoints that a folder's `checkpoint` file lists, oldest first.

    Where the file is lost or unreadable, those in the folder count: taking the folder for
    an empty one would start the run over.
    """
    state = checkpoint_state(model_dir)
    return list(state.all_model_checkpoint_paths) if state else found_by_name(model_dir)


def checkpoint_state(model_dir: str) -> Any:
    """The content of a folder's `checkpoint` file, its paths joined to the folder.

    Returns:
      A `CheckpointState`, or None where the file is lost or unreadable.
    """
    try:
        return tf.train.get_checkpoint_state(model_dir)
    except ValueError:  # An empty file, or bytes that are no text.
        return None


def found_by_name(model_dir: str) -> Sequence[str]:
    """Path prefixes `model.ckpt-<step>` in a folder, ordered by step."""
    found = []
    for index in tf.io.gfile.glob(os.path.join(model_dir, "model.ckpt-*.index")):
        path = index.removesuffix(".index")
        step = path.rpartition("-")[2]
        if step.isdecimal() and not tf.io.gfile.isdir(index):
            found.append((int(step), path))
    return [path for _, path in sorted(found)]


def damage_of(path: str) -> str:
    """The reason why a checkpoint cannot be read; empty for a sound one.

    Reads every tensor, because reading compares checksums.
    """
    try:
        reader = tf.train.load_checkpoint(path)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    except READ_ERRORS as error:
        return reason_of(error)
    return ""


def step_of(path: str | None) -> int:
    """The global step in a checkpoint; 0 without a checkpoint or without a step."""
    if path is None:
        return 0
    reader = tf.train.load_checkpoint(path)
    return int(reader.get_tensor("global_step")) if reader.has_tensor("global_step") else 0
