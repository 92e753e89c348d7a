"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import tensorflow.compat.v1 as tf


@contextlib.contextmanager
def whole_or_not_there(path: str) -> Iterator[str]:
    """Yields the name to write a file under; at the end it gets its own.

    Who looks on, such as TensorBoard, never sees half a file. After an error what
    was written is removed: on a full disk the next checkpoint needs the room.

    Args:
      path: where to, on any file system that TensorFlow knows.
    """
    partial = f"{path}.part"
    try:
        yield partial
        tf.io.gfile.rename(partial, path, overwrite=True)
    except BaseException:
        # Where it was never made, the error at hand is the one to tell.
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(partial)
        raise
