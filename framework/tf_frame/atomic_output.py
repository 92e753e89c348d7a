"""Writes files and folders atomically: a reader sees the complete output or none.

    with atomic_output("runs/first/result.json") as temporary:
        write(temporary)

An evaluator, a resumed run or TensorFlow Serving therefore never loads half a file.
The content is staged under a temporary name next to the target, on the same file system, and
renamed at the end. After an error the staged files are removed, so that a full disk has room for
the next checkpoint. Paths may be on any file system that TensorFlow knows. Only the
functions import TensorFlow, so that the command line can import this module and start at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def atomic_output(path: str) -> Iterator[str]:
    """Yields the temporary name of a file, and renames the file to `path` at the end.

    The next writer overwrites a temporary file that a killed process left.

    Args:
      path: the file; an existing file is replaced.
    """
    import tensorflow.compat.v1 as tf

    folder, name = os.path.split(path)
    # Hidden, and with another ending: no pattern for the real files matches the name.
    temporary = os.path.join(folder, f".{name}.partial")
    try:
        yield temporary
        tf.io.gfile.rename(temporary, path, overwrite=True)
    except BaseException:  # Ctrl-C, too; raised again.
        # If the block failed before it made the file, its own error must be raised.
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(temporary)
        raise


def write_file(path: str, content: str | bytes) -> None:
    """Writes a file whole or not at all.

    Args:
      path: the file; an existing file is replaced.
      content: a text, written as UTF-8, or bytes.
    """
    import tensorflow.compat.v1 as tf

    mode = "w" if isinstance(content, str) else "wb"
    with atomic_output(path) as temporary, tf.io.gfile.GFile(temporary, mode) as file:
        file.write(content)


@contextlib.contextmanager
def staging_folder(path: str) -> Iterator[str]:
    """Makes a folder to stage output, and removes the folder at the end.

    The caller renames complete files, or the folder itself. A folder that a killed process left
    is removed first. After an error new parent folders are removed as well, unless they hold
    other files.

    Args:
      path: the folder, next to the target.
    """
    import tensorflow.compat.v1 as tf

    missing, parent = [], os.path.dirname(path)
    while parent and not tf.io.gfile.exists(parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    try:
        _remove(path)
        tf.io.gfile.makedirs(path)
        yield path
    except BaseException:  # Ctrl-C, too; raised again.
        # The error of the block is raised, not one of the removal.
        with contextlib.suppress(tf.errors.OpError):
            _remove(path)
            for folder in missing:
                if tf.io.gfile.isdir(folder) and not tf.io.gfile.listdir(folder):
                    tf.io.gfile.rmtree(folder)
        raise
    _remove(path)


def _remove(folder: str) -> None:
    import tensorflow.compat.v1 as tf

    if tf.io.gfile.exists(folder):
        tf.io.gfile.rmtree(folder)
