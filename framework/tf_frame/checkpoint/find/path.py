"""Converts the checkpoint path that a user gives to a path prefix, and lists its files.

TensorFlow takes prefixes only; users also name a folder, a SavedModel, or one of the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import found_by_name, known_checkpoints, newest_readable
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.text import indented

_SHOWN = 8
_FILE_OF_A_CHECKPOINT = re.compile(r"(.+)\.(index|meta|data-\d{5}-of-\d{5})")


def resolve(path: str) -> str:
    """Finds the checkpoint that a path means.

    Args:
      path: a path prefix (`model.ckpt-123`), one of its files, a folder with
        checkpoints (the newest one that can be read), or a SavedModel.

    Returns:
      The path prefix.

    Raises:
      ConfigError: there is no checkpoint; the message names what the folder holds.
      CheckpointError: none of the checkpoints in the folder can be read.
    """
    # A folder may have the same name as a prefix.
    if tf.io.gfile.isdir(path) and not exists(path):
        return _in_folder(path)
    prefix = prefix_of(path)
    if exists(prefix):
        return prefix
    raise ConfigError(f"there is no checkpoint {path}; {_alternatives(prefix)}")


def prefix_of(path: str) -> str:
    """Takes `.index`, `.meta` or `.data-00000-of-00001` off the end of a path."""
    found = _FILE_OF_A_CHECKPOINT.fullmatch(path)
    return found[1] if found else path


def same_path(path: str, other: str) -> bool:
    """Returns whether two spellings of a path prefix name the same checkpoint."""
    return os.path.normpath(path) == os.path.normpath(other)


def exists(prefix: str) -> bool:
    """Returns whether a checkpoint has this path prefix.

    Checkpoints of TensorFlow before 1.0, such as slim's first pretrained models, are
    one file without `.index`.
    """
    if tf.io.gfile.exists(prefix + ".index"):
        return not tf.io.gfile.isdir(prefix + ".index")
    return bool(tf.io.gfile.exists(prefix)) and not tf.io.gfile.isdir(prefix)


def files_of(prefix: str) -> Sequence[str]:
    """The files of a checkpoint: data, index, and the meta graph if there is one."""
    folder, name = os.path.split(prefix)
    if not tf.io.gfile.isdir(folder or "."):
        return []
    files = [file for file in sorted(tf.io.gfile.listdir(folder or ".")) if prefix_of(file) == name]
    paths = [os.path.join(folder, file) for file in files]
    return [path for path in paths if not tf.io.gfile.isdir(path)]


def checkpoints_in(folder: str) -> Sequence[str]:
    """Path prefixes of the checkpoints in a folder, whatever their names, oldest first.

    Those that the `checkpoint` file lists come last, in its order.
    """
    listed = [path for path in known_checkpoints(folder) if exists(path)]
    found = [
        os.path.join(folder, name.removesuffix(".index"))
        for name in tf.io.gfile.listdir(folder)
        if name.endswith(".index")
    ]
    known = {os.path.normpath(path) for path in listed}
    others = [path for path in found if os.path.normpath(path) not in known and exists(path)]
    return [*sorted(others, key=_age), *listed]


def _age(prefix: str) -> tuple[int, str]:
    return tf.io.gfile.stat(prefix + ".index").mtime_nsec, prefix


def _in_folder(folder: str) -> str:
    saved_model = os.path.join(folder, "variables", "variables")
    if exists(saved_model):
        return saved_model
    # The `checkpoint` file of a downloaded folder may list paths of another machine.
    listed = [path for path in known_checkpoints(folder) if exists(path)] or found_by_name(folder)
    if listed:
        path, damages = newest_readable(listed)
        if path is None:
            raise CheckpointError(f"no checkpoint in {folder} can be read:\n{indented(damages)}")
        return path
    unlisted = checkpoints_in(folder)
    if len(unlisted) == 1:
        return unlisted[0]
    if unlisted:
        raise ConfigError(f"{folder} holds several checkpoints; name one: {_joined(unlisted)}")
    raise ConfigError(
        f"there is no checkpoint in the folder {folder}; it holds {_names_in(folder)}"
    )


def _alternatives(prefix: str) -> str:
    """Names what there is in place of a checkpoint that does not exist."""
    folder, name = os.path.split(prefix)
    folder = folder or "."
    if not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder}"
    names = [os.path.basename(path) for path in checkpoints_in(folder)]
    if not names:
        return f"the folder {folder} holds {_names_in(folder)}"
    near = nearest(name, names)
    hint = f"did you mean {os.path.join(folder, near)}? " if near else ""
    return f"{hint}checkpoints in {folder}: {_joined(names)}"


def _names_in(folder: str) -> str:
    return _joined(sorted(tf.io.gfile.listdir(folder)))


def _joined(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "nothing"
