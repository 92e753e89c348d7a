"""Iterator over the new checkpoints of a folder.

`tf.train.checkpoints_iterator` yields damaged checkpoints as well, and cannot be stopped while
it waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import checkpoints_by_age, damage_of

_LOG = logging.getLogger("tf_frame")


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
    *,
    done: Collection[str] = (),
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
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
      clock, sleep: source of time.

    Returns:
      The path prefix, or None after the timeout or `stop`.
    """
    _LOG.info("waiting for a new checkpoint in %s", checkpoint_dir)
    deadline = None if timeout is None else clock() + timeout
    logged: dict[str, str] = {}
    while not stop():
        path = _newest(checkpoint_dir, last_checkpoint, done, logged)
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
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
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
      clock, sleep: source of time.
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
    folder: str, last: str | None, done: Collection[str], logged: dict[str, str]
) -> str | None:
    """The newest sound checkpoint that is new; logs every damage once."""
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
