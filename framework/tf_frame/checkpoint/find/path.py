"""From what a user calls a checkpoint to its path prefix."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import found_by_name, known_checkpoints, newest_readable
from tf_frame.checkpoint.text import some
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError, ConfigError

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
      ConfigError: there is no checkpoint; the message says what is there.
      CheckpointError: there are some in the folder, and none can be read.
    """
    # A folder may have the name of the prefix whose files are beside it.
    if tf.io.gfile.isdir(path) and not exists(path):
        return _in_folder(path)
    prefix = prefix_of(path)
    if exists(prefix):
        return prefix
    raise ConfigError(f"there is no checkpoint {path}; {_what_is_there(prefix)}")


def prefix_of(path: str) -> str:
    """Takes `.index`, `.meta` or `.data-00000-of-00001` off the end of a path."""
    found = _FILE_OF_A_CHECKPOINT.fullmatch(path)
    return found[1] if found else path


def exists(prefix: str) -> bool:
    """Whether a checkpoint has this path prefix.

    Those of TensorFlow before 1.0, such as slim's first pretrained models, are
    one file without `.index`.
    """
    if tf.io.gfile.exists(prefix + ".index"):
        return not tf.io.gfile.isdir(prefix + ".index")
    return bool(tf.io.gfile.exists(prefix)) and not tf.io.gfile.isdir(prefix)


def checkpoints_in(folder: str) -> Sequence[str]:
    """Path prefixes of the checkpoints in a folder, whatever their names, oldest first.

    Those of the `checkpoint` file come last, in its order: it may not list others.
    """
    listed = [path for path in known_checkpoints(folder) if exists(path)]
    found = [
        os.path.join(folder, name.removesuffix(".index"))
        for name in tf.io.gfile.listdir(folder)
        if name.endswith(".index")
    ]
    known = {os.path.normpath(path) for path in listed}
    others = [path for path in found if os.path.normpath(path) not in known and exists(path)]
    return [*sorted(others, key=_time_of), *listed]


def _time_of(prefix: str) -> tuple[int, str]:
    return tf.io.gfile.stat(prefix + ".index").mtime_nsec, prefix


def _in_folder(folder: str) -> str:
    saved_model = os.path.join(folder, "variables", "variables")
    if exists(saved_model):
        return saved_model
    # The `checkpoint` file of a downloaded folder may list paths of another machine.
    listed = [path for path in known_checkpoints(folder) if exists(path)] or found_by_name(folder)
    if listed:
        return _newest_of(folder, listed)
    there = checkpoints_in(folder)
    if len(there) == 1:
        return there[0]
    if there:
        raise ConfigError(f"{folder} holds several checkpoints; name one: {_some(there)}")
    raise ConfigError(
        f"there is no checkpoint in the folder {folder}; it holds {_some(_names_in(folder))}"
    )


def _newest_of(folder: str, paths: Sequence[str]) -> str:
    path, damages = newest_readable(paths)
    if path is None:
        raise CheckpointError(f"no checkpoint in {folder} can be read:\n{some(damages)}")
    return path


def _what_is_there(prefix: str) -> str:
    folder, name = os.path.split(prefix)
    folder = folder or "."
    if not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder}"
    names = [os.path.basename(path) for path in checkpoints_in(folder)]
    if not names:
        return f"the folder {folder} holds {_some(_names_in(folder))}"
    near = nearest(name, names)
    hint = f"did you mean {os.path.join(folder, near)}? " if near else ""
    return f"{hint}checkpoints in {folder}: {_some(names)}"


def _names_in(folder: str) -> Sequence[str]:
    return sorted(tf.io.gfile.listdir(folder))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return shown + more or "nothing"
