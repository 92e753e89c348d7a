"""Converts the checkpoint path that a user gives to a path prefix, and lists its files.

TensorFlow takes prefixes only; users also name a folder, a SavedModel, or one of the files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import (
    listed_checkpoints,
    newest_readable,
    numbered_checkpoints,
)
from tf_frame.checkpoint.names import BRACKET, INDEX, check_no_pattern, checkpoint_prefix
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.text import indented, short

_SHOWN = 8


def resolve_checkpoint(path: str) -> str:
    """Finds the checkpoint for a path that a user gives.

    Args:
      path: a path prefix (`runs/first/model.ckpt-123`), one of its files, a folder with
        checkpoints (the newest readable one is taken), or a SavedModel.

    Returns:
      The path prefix.

    Raises:
      ConfigError: there is no checkpoint; the message lists the content of the folder. Or
        TensorFlow cannot read the path.
      CheckpointError: none of the checkpoints in the folder can be read.
    """
    check_no_pattern(path, "the checkpoint", BRACKET)
    # A folder may have the same name as a prefix.
    if tf.io.gfile.isdir(path) and not checkpoint_exists(path):
        return _in_folder(path)
    prefix = checkpoint_prefix(path)
    if checkpoint_exists(prefix):
        return prefix
    raise ConfigError(f"there is no checkpoint {short(path)}; {_alternatives(prefix)}")


def same_path(path: str, other: str) -> bool:
    """Returns whether two spellings of a path prefix name the same checkpoint."""
    return os.path.normpath(path) == os.path.normpath(other)


def checkpoint_exists(prefix: str) -> bool:
    """Returns whether a checkpoint has this path prefix.

    Checkpoints of TensorFlow before 1.0, such as slim's first pretrained models, are
    one file without `.index`.
    """
    if tf.io.gfile.exists(prefix + INDEX):
        return not tf.io.gfile.isdir(prefix + INDEX)
    return bool(tf.io.gfile.exists(prefix)) and not tf.io.gfile.isdir(prefix)


def checkpoint_files(prefix: str) -> Sequence[str]:
    """Returns paths of the files of a checkpoint: data, index, and the meta graph if any."""
    folder, name = os.path.split(prefix)
    if not tf.io.gfile.isdir(folder or "."):
        return []
    files = sorted(tf.io.gfile.listdir(folder or "."))
    paths = [os.path.join(folder, file) for file in files if checkpoint_prefix(file) == name]
    return [path for path in paths if not tf.io.gfile.isdir(path)]


def find_checkpoints(folder: str) -> Sequence[str]:
    """Returns path prefixes of the checkpoints in a folder, of any name, oldest first.

    Listed checkpoints come last, in the order of the `checkpoint` file.
    """
    listed = [path for path in listed_checkpoints(folder) if checkpoint_exists(path)]
    normalized = {os.path.normpath(path) for path in listed}
    unlisted = [
        path
        for name in tf.io.gfile.listdir(folder)
        if name.endswith(INDEX)
        and os.path.normpath(path := os.path.join(folder, name.removesuffix(INDEX)))
        not in normalized
        and checkpoint_exists(path)
    ]
    return [*sorted(unlisted, key=_written_at), *listed]


def _written_at(prefix: str) -> tuple[int, str]:
    return tf.io.gfile.stat(prefix + INDEX).mtime_nsec, prefix


def _in_folder(folder: str) -> str:
    saved_model = os.path.join(folder, "variables", "variables")
    if checkpoint_exists(saved_model):
        return saved_model
    # The `checkpoint` file of a downloaded folder may list paths of another machine.
    listed = [path for path in listed_checkpoints(folder) if checkpoint_exists(path)]
    if listed := listed or list(numbered_checkpoints(folder)):
        path, damages = newest_readable(listed)
        if path is None:
            raise CheckpointError(
                f"no checkpoint in {short(folder)} can be read:\n{indented(damages)}"
            )
        return path
    unlisted = find_checkpoints(folder)
    if len(unlisted) == 1:
        return unlisted[0]
    if unlisted:
        raise ConfigError(
            f"{short(folder)} holds several checkpoints; name one: {_shorten(unlisted)}"
        )
    raise ConfigError(
        f"there is no checkpoint in the folder {short(folder)}; it holds {_content(folder)}"
    )


def _alternatives(prefix: str) -> str:
    """Describes the content of the folder of a checkpoint that does not exist."""
    folder, name = os.path.split(prefix)
    folder = folder or "."
    if not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder}"
    names = [os.path.basename(path) for path in find_checkpoints(folder)]
    if not names:
        return f"the folder {folder} holds {_content(folder)}"
    near = nearest(name, names)
    hint = f"did you mean {os.path.join(folder, near)}? " if near else ""
    return f"{hint}checkpoints in {folder}: {_shorten(names)}"


def _content(folder: str) -> str:
    return _shorten(sorted(tf.io.gfile.listdir(folder)))


def _shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "nothing"
