"""The folder of an export: named by the time, there as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import time
import uuid
from collections.abc import Iterator, Mapping

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, TfFrameError, reason_of

# TensorFlow Serving passes over folders whose name is no number (tensorflow,
# saved_model/model_utils/export_utils.py).
_UNFINISHED = "temp-"
_EXTRA = "assets.extra"
# Of the seconds since 1970; a longer number is somebody else's.
_DIGITS = 10
# No space on the disk, none in the user's quota, or a file beyond the limit of the process.
_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))


@contextlib.contextmanager
def unfinished_export(base: str) -> Iterator[str]:
    """Makes a folder to write an export to; after an error nothing is left behind.

    Args:
      base: the folder of the exports; it need not exist.

    Yields:
      The folder to write to; `put_in_place` gives it its name.

    Raises:
      TfFrameError: the disk is full, or the folder cannot be written.
    """
    made = missing_folders(base)
    folder = os.path.join(base, f"{_UNFINISHED}{int(time.time())}-{uuid.uuid4().hex[:8]}")
    try:
        with _told_as_not_written(base):
            tf.io.gfile.makedirs(folder)
        with _told_as_not_written(base, only_if_full=True):
            yield folder
    except BaseException:
        if tf.io.gfile.exists(folder):
            tf.io.gfile.rmtree(folder)
        remove_empty(made)
        raise


def put_in_place(folder: str) -> str:
    """Gives a finished export its name: the seconds since 1970, or a higher number.

    So later exports have higher numbers than those that are there, and none
    replaces another, even if several end at once.

    Args:
      folder: as `unfinished_export` gave it.

    Returns:
      The path that it has now.
    """
    number = max(int(time.time()), _highest(os.path.dirname(folder)) + 1)
    while True:
        final = os.path.join(os.path.dirname(folder), str(number))
        try:
            tf.io.gfile.rename(folder, final)
            return final
        except (tf.errors.AlreadyExistsError, tf.errors.FailedPreconditionError):
            if not tf.io.gfile.exists(final):
                raise
        number += 1


def _highest(base: str) -> int:
    """The highest number that an export has; 0 without any."""
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(base)]
    return max((int(n) for n in names if n.isdecimal() and len(n) <= _DIGITS), default=0)


def check_extra(assets_extra: Mapping[str, str] | None) -> dict[str, str]:
    """Checks, before any work, the files to be added to an export.

    Args:
      assets_extra: path below the export's `assets.extra` -> file to copy there.

    Returns:
      The same as strings.

    Raises:
      ConfigError: a file does not exist, or would be copied somewhere else.
    """
    text = tf.compat.as_text
    extra = {text(to): text(source) for to, source in (assets_extra or {}).items()}
    for to, source in extra.items():
        inside = os.path.normpath(to)
        if os.path.isabs(to) or inside in (".", "..") or inside.startswith(".." + os.sep):
            raise ConfigError(
                f"assets_extra: {to!r} is not below {_EXTRA}; give a relative path such as "
                f"{os.path.basename(source)!r}"
            )
        if not tf.io.gfile.exists(source) or tf.io.gfile.isdir(source):
            raise ConfigError(f"assets_extra: there is no file {source}, which {to!r} should be")
    return extra


def copy_extra(extra: Mapping[str, str], folder: str) -> None:
    """Copies files into the `assets.extra` of an export.

    Args:
      extra: what `check_extra` returned.
      folder: where the export is written.
    """
    for to, source in extra.items():
        destination = os.path.join(folder, _EXTRA, to)
        tf.io.gfile.makedirs(os.path.dirname(destination))
        tf.io.gfile.copy(source, destination)


def missing_folders(folder: str) -> list[str]:
    """A folder and those above it that do not exist, the deepest first."""
    missing = []
    while folder and not tf.io.gfile.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def remove_empty(folders: list[str]) -> None:
    """Removes those folders that are there and hold nothing."""
    for folder in folders:
        if tf.io.gfile.isdir(folder) and not tf.io.gfile.listdir(folder):
            tf.io.gfile.rmtree(folder)


def is_full(error: Exception) -> bool:
    """Whether an error of writing says that there is no room."""
    return any(text in str(error) for text in _FULL)


@contextlib.contextmanager
def _told_as_not_written(base: str, *, only_if_full: bool = False) -> Iterator[None]:
    try:
        yield
    except (OSError, tf.errors.OpError) as error:
        if only_if_full and not is_full(error):
            raise
        raise TfFrameError(
            f"the SavedModel could not be written to {base}: {reason_of(error)}\nnothing of it "
            "was left behind; free space there and check that the folder can be written"
        ) from error
