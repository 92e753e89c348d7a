"""The folder of an export: named by the time, there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, TfFrameError, reason_of

# TensorFlow Serving passes over folders whose name is no number (tensorflow,
# saved_model/model_utils/export_utils.py).
_UNFINISHED = "temp-"
_EXTRA = "assets.extra"


@contextlib.contextmanager
def export_folder(base: str) -> Iterator[tuple[str, str]]:
    """Makes a folder to write an export to, and gives it its name at the end.

    The name is the time in seconds since 1970, or the next number that is free,
    so that later exports have higher numbers. After an error nothing is left behind.

    Args:
      base: the folder of the exports; it need not exist.

    Yields:
      The folder to write to, and the path that it will have.

    Raises:
      TfFrameError: the disk is full, or the folder cannot be written.
    """
    made = _missing_folders(base)
    try:
        tf.io.gfile.makedirs(base)
        unfinished, final = _claim(base)
        try:
            yield unfinished, final
            tf.io.gfile.rename(unfinished, final)
        except BaseException:
            tf.io.gfile.rmtree(unfinished)
            raise
    except BaseException as error:
        _remove_empty(made)
        if isinstance(error, (OSError, tf.errors.ResourceExhaustedError)):
            raise _not_written(base, error) from error
        raise


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


def _claim(base: str) -> tuple[str, str]:
    """Makes the unfinished folder of the first number that nobody else has."""
    number = int(time.time())
    while True:
        unfinished = os.path.join(base, f"{_UNFINISHED}{number}")
        final = os.path.join(base, str(number))
        if not tf.io.gfile.exists(final) and _made(unfinished):
            # Another export may have finished in between, which freed the unfinished name.
            if not tf.io.gfile.exists(final):
                return unfinished, final
            tf.io.gfile.rmtree(unfinished)
        number += 1


def _made(folder: str) -> bool:
    """Makes a folder; False if it exists."""
    try:
        tf.io.gfile.mkdir(folder)
    except tf.errors.AlreadyExistsError:
        return False
    return True


def _missing_folders(folder: str) -> list[str]:
    """A folder and those above it that do not exist, the deepest first."""
    missing = []
    while folder and not tf.io.gfile.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def _remove_empty(folders: list[str]) -> None:
    for folder in folders:
        if tf.io.gfile.isdir(folder) and not tf.io.gfile.listdir(folder):
            tf.io.gfile.rmtree(folder)


def _not_written(base: str, error: BaseException) -> TfFrameError:
    return TfFrameError(
        f"the SavedModel could not be written to {base}: {reason_of(error)}\nnothing of it was "
        "left behind; free space there and check that the folder can be written"
    )
