"""Finds the newest readable checkpoint of a folder, to resume from it, and waits for new ones.

This module replaces `tf.train.latest_checkpoint`, which does not notice damaged files, and
`tf.train.checkpoints_iterator`, which yields damaged checkpoints, too, and cannot be stopped while
it waits.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint import names
from tf_frame.checkpoint.find.reader import READ_ERRORS
from tf_frame.checkpoint.names import SLOT_OF_PART, step_in_path
from tf_frame.errors import CheckpointError, short_reason
from tf_frame.text import indented, short

_LOG = logging.getLogger("tf_frame")


def newest_checkpoint(
    model_dir: str, report: Callable[[str], None] | None = None, *, readable: str | None = None
) -> str | None:
    """Finds the checkpoint to resume from.

    Skips damaged checkpoints with a warning and deletes nothing. Takes checkpoints that the
    `checkpoint` file does not list if all listed checkpoints are damaged. Reads every tensor of
    a candidate (0.12 s for 100 MB), so callers pass the result on and do not ask again.

    Args:
      report: takes a line for each skipped checkpoint, and a line with the result.
      readable: path prefix of a checkpoint that was read before, and is not read again.

    Returns:
      The path prefix (`runs/first/model.ckpt-120`), or None if there never was a checkpoint.

    Raises:
      CheckpointError: there are checkpoints, but none can be read. Starting over would hide
        the loss of a run, so the user has to decide.
    """
    path, damages = newest_readable(checkpoints_by_age(model_dir), readable)
    if path is None and damages:
        raise CheckpointError(
            f"no checkpoint in {short(model_dir)} can be read:\n{indented(damages, len(damages))}\n"
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
    """Finds the last checkpoint of a list, oldest first, that can be read.

    Returns:
      The path prefix, or None; and a line for each newer checkpoint, which is damaged.
    """
    damages: list[str] = []
    for path in reversed(paths):
        damage = "" if path == readable else find_damage(path)
        if not damage:
            return path, damages
        damages.append(f"{path}: {damage}")
        _LOG.warning("passing over a damaged checkpoint: %s", damages[-1])
    return None, damages


def checkpoints_by_age(model_dir: str) -> Sequence[str]:
    """Returns path prefixes of all checkpoints of a folder: unlisted ones first, then the list."""
    listed = listed_checkpoints(model_dir)
    names = {os.path.basename(path) for path in listed}
    by_step = numbered_checkpoints(model_dir)
    return [*(path for path in by_step if os.path.basename(path) not in names), *listed]


def listed_checkpoints(model_dir: str) -> Sequence[str]:
    """Returns path prefixes from the `checkpoint` file of a folder, oldest first.

    Returns the numbered checkpoints of the folder if the file is lost or unreadable, because a
    run in a folder without checkpoints starts over.
    """
    state = checkpoint_state(model_dir)
    return list(state.all_model_checkpoint_paths) if state else numbered_checkpoints(model_dir)


def checkpoint_state(model_dir: str) -> Any:
    """Reads the `checkpoint` file of a folder, and joins its paths to the folder.

    Returns:
      A `CheckpointState` with each path once, at its last place; None if the file is lost or
      unreadable.
    """
    try:
        state = tf.train.get_checkpoint_state(model_dir)
    except ValueError:  # An empty file, or bytes that are no text.
        return None
    if state is not None:
        _drop_repeated(state)
    return state


def _drop_repeated(state: Any) -> None:
    """Drops all but the last of equal paths: a path that is also old would be deleted."""
    paths, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
    last = {os.path.normpath(path): i for i, path in enumerate(paths)}
    for i in reversed(range(len(paths))):
        if last[os.path.normpath(paths[i])] != i:
            del paths[i]
            del times[i : i + 1]


def numbered_checkpoints(model_dir: str) -> Sequence[str]:
    """Returns the path prefixes `<folder>/model.ckpt-<step>` in a folder, ordered by step."""
    steps_and_paths = []
    for index in tf.io.gfile.glob(os.path.join(model_dir, f"{names.PREFIX}*{names.INDEX}")):
        path = index.removesuffix(names.INDEX)
        step = step_in_path(path)
        if step is not None and not tf.io.gfile.isdir(index):
            steps_and_paths.append((step, path))
    return [path for _, path in sorted(steps_and_paths)]


def find_damage(path: str) -> str:
    """Returns why a checkpoint cannot be read; an empty text if it can.

    Reads every tensor, because TensorFlow compares the checksum of a tensor when it is read; but
    for slots of parts, of which no reader gets a whole.
    """
    try:
        reader = tf.train.NewCheckpointReader(path)
        for name in reader.get_variable_to_shape_map():
            if not SLOT_OF_PART.search(name):
                reader.get_tensor(name)
    except READ_ERRORS as error:
        return short_reason(error)
    return ""


def read_step(path: str | None) -> int:
    """Reads the global step of a checkpoint; 0 without a checkpoint or without a step."""
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

    Skips and logs damaged checkpoints. Checkpoints that the `checkpoint` file lists before the
    last one are not new. The folder need not exist yet.

    Args:
      last_checkpoint: the previous checkpoint; None: every checkpoint is new.
      seconds_to_sleep: time between two looks at the folder.
      timeout: seconds to wait at most; None: no limit.
      done: further checkpoints that are not new.
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

    Skips a checkpoint if a newer one is there when the caller asks again. See
    `wait_for_new_checkpoint` for the other arguments.

    Args:
      min_interval_secs: least number of seconds between two checkpoints.
      timeout: seconds to wait for a new checkpoint; None: no limit.
      timeout_fn: called after the timeout; the iteration goes on if it returns false. Default:
        the timeout ends the iteration.
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
        start = time.monotonic()
        last = path
        done.add(path)
        yield path
        while not stop() and (secs := start + min_interval_secs - time.monotonic()) > 0:
            time.sleep(min(secs, seconds_to_sleep))


def _newest(
    folder: str, last: str | None, done: Collection[str], logged: dict[str, str]
) -> str | None:
    """Returns the newest readable checkpoint if it is new; logs each damaged checkpoint once."""
    paths = checkpoints_by_age(folder)
    if last in paths:
        paths = paths[paths.index(last) + 1 :]
    for path in reversed(paths):
        if path in done:
            continue
        try:
            damage = find_damage(path)
        except tf.errors.NotFoundError:  # Deleted while it was read.
            continue
        if not damage:
            return path
        if logged.get(path) != damage:
            logged[path] = damage
            _LOG.warning("passing over a damaged checkpoint: %s: %s", path, damage)
    return None
