"""Staging of exports in a temporary folder: only complete, verified exports get their names.

TensorFlow Serving loads an export as soon as a folder has a number as name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import staging_folder
from tf_frame.checkpoint.names import INDEX, LIST_FILE
from tf_frame.errors import ConfigError, translated_write_errors
from tf_frame.runs.export.verify import Comparison
from tf_frame.text import brief, short

# TensorFlow Serving ignores folders with a name that is no number (tensorflow,
# saved_model/model_utils/export_utils.py).
_UNFINISHED = "temp-"
_EXTRA = "assets.extra"
# The name of an export is the second of its creation; names with fewer or more digits are no
# exports (tensorflow_estimator, exporter.py).
_DIGITS = 10


@dataclasses.dataclass(frozen=True)
class Written:
    """The verified output of a format in a folder.

    Attributes:
      path: the file, path prefix or folder, relative to the folder.
      inputs: input name -> `tf.TensorSpec`.
      signatures: signature name -> output name -> `tf.TensorSpec`.
      fed: signature name -> names of its inputs.
      comparison: difference from the outputs of the restored session.
    """

    path: str
    inputs: Mapping[str, Any]
    signatures: Mapping[str, Mapping[str, Any]]
    fed: Mapping[str, Sequence[str]]
    comparison: Comparison


def check_output(folder: str) -> None:
    """Raises a ConfigError if a folder, or a folder above it, is a file."""
    path = folder
    while path and not tf.io.gfile.exists(path):
        path = os.path.dirname(path)
    if path and not tf.io.gfile.isdir(path):
        raise ConfigError(
            f"{short(folder)} cannot be written to: {short(path)} is a file; take another --output"
        )


@contextlib.contextmanager
def staged_files(folder: str, *, overwrite: bool) -> Iterator[str]:
    """Yields a folder to write files to, and moves them to `folder` at the end.

    Removes files and new folders after an error.

    Args:
      folder: target of the files; created if it does not exist.
      overwrite: whether existing files may be replaced.

    Raises:
      ConfigError: a file of the same name exists.
      TfFrameError: the folder cannot be written to, or the disk is full.
    """
    with _staged(
        os.path.join(folder, f"exporting.tmp-{os.getpid()}"),
        f"the export to {folder} could not be written",
    ) as staging:
        yield staging
        names = sorted(entry.rstrip("/") for entry in tf.io.gfile.listdir(staging))
        for target in (os.path.join(folder, name) for name in names):
            if tf.io.gfile.exists(target) and (not overwrite or tf.io.gfile.isdir(target)):
                raise ConfigError(
                    f"{short(target)} exists; take another --output, or replace it with --overwrite"
                )
        # The index comes last: without it there is no checkpoint.
        for name in sorted(names, key=lambda name: (name == LIST_FILE, name.endswith(INDEX))):
            tf.io.gfile.rename(
                os.path.join(staging, name), os.path.join(folder, name), overwrite=overwrite
            )


@contextlib.contextmanager
def staged_export(base: str) -> Iterator[str]:
    """Yields a new folder in `base` for an export, and removes it after an error.

    `put_in_place` gives it the final name.

    Raises:
      TfFrameError: the disk is full, or the folder cannot be written.
    """
    name = f"{_UNFINISHED}{int(time.time())}-{uuid.uuid4().hex[:8]}"
    failure = f"the SavedModel could not be written to {base}"
    with _staged(os.path.join(base, name), failure) as staging:
        yield staging


@contextlib.contextmanager
def _staged(path: str, failure: str) -> Iterator[str]:
    """Stages output in a folder, and turns errors of writing into one error for the user."""
    remedy = (
        "nothing of it was left behind; free space there, check that the folder can be written, or "
        "choose another --output"
    )
    with contextlib.ExitStack() as stack:
        with translated_write_errors(failure, remedy):
            stack.enter_context(staging_folder(path))
        # Errors about other files, which a model may read, are no errors of the export.
        with translated_write_errors(failure, remedy, within=path):
            yield path


def put_in_place(folder: str) -> str:
    """Names the folder of `staged_export` by the seconds since 1970; returns the new path.

    Later exports have higher numbers. Exports that end in the same second get different numbers.
    """
    base = os.path.dirname(folder)
    number = max([int(time.time()), *(int(name) + 1 for name in list_exports(base))])
    while True:
        final = os.path.join(base, str(number))
        try:
            tf.io.gfile.rename(folder, final)
            return final
        except (tf.errors.AlreadyExistsError, tf.errors.FailedPreconditionError):
            if not tf.io.gfile.exists(final):
                raise
        number += 1


def list_exports(export_path: str) -> Sequence[str]:
    """Returns the names of the exports in a folder, oldest first; none without the folder."""
    if not tf.io.gfile.isdir(export_path):
        return []
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(export_path)]
    return sorted(name for name in names if len(name) == _DIGITS and name.isdecimal())


def check_extra(assets_extra: Mapping[str, str] | None) -> dict[str, str]:
    """Checks the further files of an export, before any work.

    Args:
      assets_extra: path below the export's `assets.extra` -> file to copy there.

    Returns:
      `assets_extra` with paths as strings.

    Raises:
      ConfigError: a file does not exist, or would be copied somewhere else.
    """
    text = tf.compat.as_text
    extra = {text(to): text(source) for to, source in (assets_extra or {}).items()}
    for to, source in extra.items():
        inside = os.path.normpath(to)
        if os.path.isabs(to) or inside in (".", "..") or inside.startswith(".." + os.sep):
            raise ConfigError(
                f"assets_extra: {brief(to)} is not below {_EXTRA}; give a relative path such as "
                f"{brief(os.path.basename(source))}"
            )
        if not tf.io.gfile.exists(source) or tf.io.gfile.isdir(source):
            raise ConfigError(
                f"assets_extra: there is no file {short(source)}, which {brief(to)} should be"
            )
    return extra


def copy_extra(extra: Mapping[str, str], folder: str) -> None:
    """Copies files, as `check_extra` returns them, into the `assets.extra` of an export."""
    for to, source in extra.items():
        destination = os.path.join(folder, _EXTRA, to)
        tf.io.gfile.makedirs(os.path.dirname(destination))
        tf.io.gfile.copy(source, destination)
