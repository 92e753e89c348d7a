"""Where an export goes: whole and verified, or not there at all."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, TfFrameError, reason_of
from tf_frame.estimator.export.folder import is_full, missing_folders, remove_empty
from tf_frame.estimator.export.verify import Comparison


@dataclasses.dataclass(frozen=True)
class Written:
    """What a format wrote into a folder, verified.

    Attributes:
      path: the file, path prefix or folder, relative to the folder.
      inputs: input name -> `tf.TensorSpec`.
      signatures: signature name -> output name -> `tf.TensorSpec`.
      comparison: how far its outputs are from those of the restored session.
    """

    path: str
    inputs: Mapping[str, Any]
    signatures: Mapping[str, Mapping[str, Any]]
    comparison: Comparison


def check_output(folder: str) -> None:
    """Refuses a folder that cannot be one, before any work.

    Raises:
      ConfigError: it, or a folder above it, is a file.
    """
    path = folder
    while path and not tf.io.gfile.exists(path):
        path = os.path.dirname(path)
    if path and not tf.io.gfile.isdir(path):
        raise ConfigError(f"{folder} cannot be written to: {path} is a file; take another --output")


@contextlib.contextmanager
def written_whole(folder: str, *, overwrite: bool) -> Iterator[str]:
    """Yields a folder to write to, whose files go to `folder` when all went well.

    After a failure nothing of them is left, nor of folders that were made for them.

    Args:
      folder: where the files are to be; made where there is none.
      overwrite: whether files of these names may be replaced.

    Raises:
      ConfigError: a file is in the way.
      TfFrameError: the folder cannot be written to, or the disk is full.
    """
    workshop = os.path.join(folder, f"exporting.tmp-{os.getpid()}")
    with _made(workshop), _explained(folder, workshop):
        yield workshop
        _put_in_place(workshop, folder, overwrite)


def _put_in_place(workshop: str, folder: str, overwrite: bool) -> None:
    names = sorted(entry.rstrip("/") for entry in tf.io.gfile.listdir(workshop))
    for name in names:
        target = os.path.join(folder, name)
        if not tf.io.gfile.exists(target):
            continue
        if not overwrite or tf.io.gfile.isdir(target):
            raise in_the_way(target)
    # The index comes last: without it there is no checkpoint.
    for name in sorted(names, key=lambda name: (name == "checkpoint", name.endswith(".index"))):
        tf.io.gfile.rename(
            os.path.join(workshop, name), os.path.join(folder, name), overwrite=overwrite
        )


def in_the_way(path: str) -> ConfigError:
    """The error for a file that would have to be replaced."""
    return ConfigError(f"{path} exists; take another --output, or replace it with --overwrite")


@contextlib.contextmanager
def _made(workshop: str) -> Iterator[None]:
    """Makes a folder and those above it; takes it away at the end, and after a failure those."""
    missing = missing_folders(os.path.dirname(workshop))
    try:
        _make(workshop)
        yield
    except BaseException:
        _remove(workshop)
        remove_empty(missing)
        raise
    _remove(workshop)


def _make(workshop: str) -> None:
    try:
        _remove(workshop)  # Of an earlier process of this number, which was killed.
        tf.io.gfile.makedirs(workshop)
    except (tf.errors.OpError, OSError) as error:
        raise _not_written(os.path.dirname(workshop), error) from error


def _remove(folder: str) -> None:
    if tf.io.gfile.exists(folder):
        tf.io.gfile.rmtree(folder)


@contextlib.contextmanager
def _explained(folder: str, workshop: str) -> Iterator[None]:
    """Turns what writing raises into an error of ours; what else goes wrong passes."""
    try:
        yield
    except (tf.errors.OpError, OSError, RuntimeError) as error:
        if workshop not in str(error) and not is_full(error):
            raise
        raise _not_written(folder, error) from error


def _not_written(folder: str, error: Exception) -> TfFrameError:
    return TfFrameError(
        f"the export to {folder} could not be written: {reason_of(error)}\nnothing of it was left "
        "behind; free space there and check that the folder can be written"
    )
