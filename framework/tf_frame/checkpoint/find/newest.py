"""The newest checkpoint of a model directory that can be read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError, reason_of

_LOG = logging.getLogger("tf_frame")

# By path prefix: the state of the files when they were read, and what ailed them then.
_DAMAGES: dict[str, tuple[tuple[Any, ...], str]] = {}


def newest_checkpoint(model_dir: str, note: Callable[[str], None] | None = None) -> str | None:
    """Finds the checkpoint to resume from.

    Damaged ones are passed over with a warning; nothing is deleted. Where all
    that the `checkpoint` file lists are damaged, others that are there count.

    Args:
      model_dir: the folder.
      note: takes a line for each that is passed over, and one that names the
        one found instead.

    Returns:
      Its path prefix (`.../model.ckpt-120`), or None if there never was one.

    Raises:
      CheckpointError: there are checkpoints, but none can be read. Starting
        over would hide the loss of a run, so that is left to the user.
    """
    listed = known_checkpoints(model_dir)
    names = {os.path.basename(path) for path in listed}
    others = [p for p in found_by_name(model_dir) if os.path.basename(p) not in names]
    path, damages = newest_readable([*others, *listed] if listed else others)
    if path is None and damages:
        raise CheckpointError(
            f"no checkpoint in {model_dir} can be read:\n  "
            + "\n  ".join(damages)
            + "\nrestore one from a backup, or start over in another --model_dir"
        )
    if damages and note is not None:
        for damage in damages:
            note(f"passing over a damaged checkpoint: {damage}")
        note(f"the newest checkpoint that can be read is {path}")
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

    Reads every tensor, which checks its checksum. As that takes long, it is done
    once in a process, unless a file of it is another meanwhile.
    """
    state = _state_of_files(path)
    if state and _DAMAGES.get(path, ((), ""))[0] == state:
        return _DAMAGES[path][1]
    damage = _read_all(path)
    _DAMAGES[path] = (state, damage)
    return damage


def _state_of_files(path: str) -> tuple[Any, ...]:
    """Name, size and time of each file of a checkpoint."""
    return tuple(_state_of_file(file) for file in sorted(tf.io.gfile.glob(f"{path}.*")))


def _state_of_file(file: str) -> tuple[Any, ...]:
    if os.path.exists(file):  # TensorFlow rounds times of local files to seconds.
        local = os.stat(file)
        return file, local.st_size, local.st_mtime_ns, local.st_ino
    stat = tf.io.gfile.stat(file)
    return file, stat.length, stat.mtime_nsec


def _read_all(path: str) -> str:
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
