"""Finds the newest readable checkpoint of a folder, to resume from it, and waits for new ones.

`tf.train.latest_checkpoint` returns the last path in the list, also if its files are damaged.
`tf.train.checkpoints_iterator` yields damaged checkpoints as well, and cannot be stopped while
it waits.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
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
        reader = tf.train.NewCheckpointReader(path)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    except READ_ERRORS as error:
        return reason_of(error)
    return ""


def step_of(path: str | None) -> int:
    """The global step in a checkpoint; 0 without a checkpoint or without a step."""
    if path is None:
        return 0
    reader = tf.train.NewCheckpointReader(path)
    return int(reader.get_tensor("global_step")) if reader.has_tensor("global_step") else 0


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
    *,
    done: Collection[str] = (),
    stop: Callable[[], bool] = lambda: False,
) -> str | None:
    """Waits until a folder has a new checkpoint that can be read.

    Damaged checkpoints are passed over and logged; checkpoints that the `checkpoint` file
    lists before the last one are not new. The folder need not exist yet.

    Args:
      checkpoint_dir: the folder.
      last_checkpoint: the checkpoint before, None for the first.
      seconds_to_sleep: time between two looks at the folder.
      timeout: seconds to wait at most; None: no limit.
      done: other checkpoints that are not new.
      stop: called before each look; true ends the waiting.

    Returns:
      The path prefix, or None after the timeout or `stop`.
    """
    _LOG.info("waiting for a new checkpoint in %s", checkpoint_dir)
    deadline = None if timeout is None else time.monotonic() + timeout
    logged: dict[str, str] = {}
    while not stop():
        path = _newest(checkpoint_dir, last_checkpoint, done, logged)
        if path is not None:
            _LOG.info("found a new checkpoint: %s", path)
            return path
        if deadline is not None and time.monotonic() + seconds_to_sleep > deadline:
            return None
        time.sleep(seconds_to_sleep)
    return None


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    *,
    seconds_to_sleep: float = 1,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[str]:
    """Yields the newest checkpoint of a folder whenever there is a new one, each only once.

    Checkpoints that are followed by another before the caller asks again are left out.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: seconds between two checkpoints at least.
      timeout: seconds to wait for a new checkpoint; None: no limit.
      timeout_fn: called after the timeout; false goes on waiting. Default: the timeout ends
        the iteration.
      seconds_to_sleep: time between two looks at the folder.
      stop: called before each look; true ends the iteration.
    """
    last: str | None = None
    done: set[str] = set()
    while not stop():
        path = wait_for_new_checkpoint(
            checkpoint_dir, last, seconds_to_sleep, timeout, done=done, stop=stop
        )
        if path is None:
            if not stop() and (timeout_fn is None or timeout_fn()):
                _LOG.info("no new checkpoint in %s for %s seconds", checkpoint_dir, timeout)
                return
            continue
        found_at = time.monotonic()
        last = path
        done.add(path)
        yield path
        while not stop() and (left := found_at + min_interval_secs - time.monotonic()) > 0:
            time.sleep(min(left, seconds_to_sleep))


def _newest(
    folder: str, last: str | None, done: Collection[str], logged: dict[str, str]
) -> str | None:
    """The newest readable checkpoint, if it is a new one; logs each damaged one once."""
    paths = checkpoints_by_age(folder)
    if last in paths:
        paths = paths[paths.index(last) + 1 :]
    for path in reversed(paths):
        if path in done:
            continue
        try:
            damage = damage_of(path)
        except tf.errors.NotFoundError:  # Deleted while it was read.
            continue
        if not damage:
            return path
        if logged.get(path) != damage:
            logged[path] = damage
            _LOG.warning("passing over a damaged checkpoint: %s: %s", path, damage)
    return None
