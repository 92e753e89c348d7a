"""The newest checkpoint of a model directory that can be read."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError, reason_of

_LOG = logging.getLogger("tf_frame")


def newest_checkpoint(model_dir: str) -> str | None:
    """Finds the checkpoint to resume from.

    Damaged ones are passed over with a warning; nothing is deleted.

    Returns:
      Its path prefix (`.../model.ckpt-120`), or None if there never was one.

    Raises:
      CheckpointError: there are checkpoints, but none can be read. Starting
        over would hide the loss of a run, so that is left to the user.
    """
    path, damages = newest_readable(known_checkpoints(model_dir))
    if path is None and damages:
        raise CheckpointError(
            f"no checkpoint in {model_dir} can be read:\n  "
            + "\n  ".join(damages)
            + "\nrestore one from a backup, or start over in another --model_dir"
        )
    return path


def newest_readable(paths: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Finds the last checkpoint of a list that can be read, and says what ails those after it.

    Args:
      paths: path prefixes, oldest first.

    Returns:
      Its path prefix, or None; and one line for each that is damaged.
    """
    damages: list[str] = []
    for path in reversed(paths):
        damage = damage_of(path)
        if not damage:
            return path, damages
        damages.append(f"{path}: {damage}")
        _LOG.warning("passing over a damaged checkpoint: %s", damages[-1])
    return None, damages


def known_checkpoints(model_dir: str) -> Sequence[str]:
    """Path prefixes of the checkpoints in a folder, oldest first.

    They are those that its `checkpoint` file lists. Where that file is lost or
    unreadable, those that are there count: taking the folder for an empty one
    would start the run over.
    """
    try:
        state = tf.train.get_checkpoint_state(model_dir)
    except ValueError:  # An empty file, or bytes that are no text.
        state = None
    return list(state.all_model_checkpoint_paths) if state else found_by_name(model_dir)


def found_by_name(model_dir: str) -> Sequence[str]:
    """Path prefixes `model.ckpt-<step>` that are in a folder, in the order of their steps."""
    found = []
    for index in tf.io.gfile.glob(os.path.join(model_dir, "model.ckpt-*.index")):
        path = index.removesuffix(".index")
        step = path.rpartition("-")[2]
        if step.isdecimal() and not tf.io.gfile.isdir(index):
            found.append((int(step), path))
    return [path for _, path in sorted(found)]


def damage_of(path: str) -> str:
    """Says what keeps a checkpoint from being read; empty if nothing does.

    Reads every tensor once, which checks its checksum.
    """
    try:
        reader = tf.train.load_checkpoint(path)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    except (tf.errors.OpError, ValueError, IndexError, RuntimeError) as error:
        # The IndexError is a data file that ends too early.
        return reason_of(error)
    return ""


def step_of(path: str | None) -> int:
    """The global step in a checkpoint; 0 without a checkpoint or without a step."""
    if path is None:
        return 0
    reader = tf.train.load_checkpoint(path)
    return int(reader.get_tensor("global_step")) if reader.has_tensor("global_step") else 0
