"""New checkpoints of a folder, as they come.

`tf.train.checkpoints_iterator` does the same, but hands out damaged
checkpoints, and looks at nothing else while it waits.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import damage_of, found_by_name, known_checkpoints

_LOG = logging.getLogger("tf_frame")


def _never() -> bool:
    return False


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
    *,
    done: Collection[str] = (),
    stop: Callable[[], bool] = _never,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str | None:
    """Waits until a folder has a checkpoint that is new and can be read.

    A damaged one is passed over, with a line of log; so is one that the
    `checkpoint` file lists before the last one. The folder need not exist yet.

    Args:
      checkpoint_dir: the folder.
      last_checkpoint: the one before, None for the first.
      seconds_to_sleep: from one look to the next.
      timeout: seconds to wait at most; None for as long as it takes.
      done: more that are not new.
      stop: asked before each look; true ends the waiting.
      clock, sleep: where the time comes from.

    Returns:
      Its path prefix, or None where the time is up or `stop` said so.
    """
    _LOG.info("waiting for a new checkpoint in %s", checkpoint_dir)
    deadline = None if timeout is None else clock() + timeout
    noted: dict[str, str] = {}
    while not stop():
        path = _newest(checkpoint_dir, last_checkpoint, done, noted)
        if path is not None:
            _LOG.info("found a new checkpoint: %s", path)
            return path
        if deadline is not None and clock() + seconds_to_sleep > deadline:
            return None
        sleep(seconds_to_sleep)
    return None


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    *,
    seconds_to_sleep: float = 1,
    stop: Callable[[], bool] = _never,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[str]:
    """Yields the newest checkpoint of a folder whenever there is a new one; none of them twice.

    Those that come and are followed by another while the caller is at work are
    left out.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: from one to the next at least.
      timeout: seconds to wait for a new one; None for as long as it takes.
      timeout_fn: asked when that time is up whether to end; without it, that is the end.
      seconds_to_sleep: from one look to the next.
      stop: asked about as often; true is the end.
      clock, sleep: where the time comes from.
    """
    last: str | None = None
    done: set[str] = set()
    while not stop():
        path = wait_for_new_checkpoint(
            checkpoint_dir,
            last,
            seconds_to_sleep,
            timeout,
            done=done,
            stop=stop,
            clock=clock,
            sleep=sleep,
        )
        if path is None:
            if not stop() and (timeout_fn is None or timeout_fn()):
                _LOG.info("no new checkpoint in %s for %s seconds", checkpoint_dir, timeout)
                return
            continue
        found_at = clock()
        last = path
        done.add(path)
        yield path
        while not stop() and (left := found_at + min_interval_secs - clock()) > 0:
            sleep(min(left, seconds_to_sleep))


def _newest(
    folder: str, last: str | None, done: Collection[str], noted: dict[str, str]
) -> str | None:
    """The newest that is new and whole; what ails others is logged once for each state."""
    paths = _oldest_first(folder)
    if last in paths:
        paths = paths[paths.index(last) + 1 :]
    for path in reversed(paths):
        if path in done:
            continue
        try:
            damage = damage_of(path)
        except tf.errors.NotFoundError:  # Deleted while it was looked at.
            continue
        if not damage:
            return path
        if noted.get(path) != damage:
            noted[path] = damage
            _LOG.warning("passing over a damaged checkpoint: %s: %s", path, damage)
    return None


def _oldest_first(folder: str) -> list[str]:
    """All checkpoints of a folder; those that its `checkpoint` file does not list come first."""
    listed = known_checkpoints(folder)
    names = {os.path.basename(path) for path in listed}
    others = [path for path in found_by_name(folder) if os.path.basename(path) not in names]
    return [*others, *listed]
