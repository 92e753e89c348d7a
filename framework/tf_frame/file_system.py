"""Reads files and folders on this machine, or on any file system that TensorFlow knows (`gs://`).

Commands look at a model folder before they need TensorFlow, so Python alone reads a local path;
only a path with a scheme imports TensorFlow. Code that has imported TensorFlow writes files by
`atomic_output`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.run_folders import runs_hint
from tf_frame.text import short
from tf_frame.visible_files import open_to_read


def is_remote(path: str) -> bool:
    """Returns whether a path has a scheme, such as `gs://`."""
    return "://" in path


def exists(path: str) -> bool:
    """Returns whether there is such a file or folder."""
    return bool(_gfile(path).exists(path)) if is_remote(path) else os.path.exists(path)


def is_folder(path: str) -> bool:
    """Returns whether there is such a folder."""
    return bool(_gfile(path).isdir(path)) if is_remote(path) else os.path.isdir(path)


def require_folder(path: str) -> None:
    """Raises ConfigError unless there is such a folder; it names runs beside it with near names."""
    if not is_folder(path):
        raise ConfigError(f"{short(path)}: there is no such folder{runs_hint(path)}")


def make_folder(path: str) -> bool:
    """Makes a folder and its parents, if they are missing; returns whether the folder is new.

    Of several processes that make a folder at once, it is new for one.

    Raises:
      OSError: the folder cannot be made.
    """
    if is_remote(path):
        with _os_errors(path):
            is_new = not _gfile(path).exists(path)
            _gfile(path).makedirs(path)
            return is_new
    os.makedirs(os.path.dirname(path.rstrip("/")) or ".", exist_ok=True)
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.isdir(path):
            return False
        raise
    return True


def user_cache() -> str:
    """Returns the folder of this user's caches of tf-frame, which need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.abspath(os.path.expanduser(os.path.join(base, "tf-frame")))


def make_subfolder(folder: str, name: str) -> str:
    """Makes a folder in a folder that must exist, if it is missing; returns its path.

    A remote file system may know no folders without files, so there the folder need not exist.

    Raises:
      OSError: it cannot be made; `FileNotFoundError` if there is no such folder.
    """
    path = os.path.join(folder, name)
    if is_remote(path):
        make_folder(path)
    else:
        try:
            os.mkdir(path)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
    return path


def remove_folder(path: str) -> None:
    """Removes a folder with its content.

    Raises:
      OSError: something cannot be removed.
    """
    with _os_errors(path):
        _gfile(path).rmtree(path) if is_remote(path) else shutil.rmtree(path)


def rename(path: str, new: str) -> None:
    """Renames a file; replaces an existing file.

    Raises:
      OSError: the file cannot be renamed.
    """
    with _os_errors(path):
        _gfile(path).rename(path, new, overwrite=True) if is_remote(path) else os.replace(path, new)


def remove_if_empty(path: str) -> None:
    """Removes a folder if it exists and is empty."""
    if is_remote(path):
        if _gfile(path).isdir(path) and not _gfile(path).listdir(path):
            remove_folder(path)
        return
    with contextlib.suppress(OSError):
        os.rmdir(path)


def write_probe(folder: str) -> None:
    """Writes a file into a folder, and removes it again.

    Raises:
      OSError: the folder cannot be written.
    """
    if not is_remote(folder):
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"tf-frame")
        return
    path = os.path.join(folder, ".tf-frame-probe")
    with _os_errors(path):
        with _gfile(path).GFile(path, "w") as file:
            file.write("tf-frame")
        _gfile(path).remove(path)


def files_in(folder: str) -> list[str]:
    """Returns the sorted paths of a folder's files and folders; none without the folder."""
    if is_remote(folder):
        names = _gfile(folder).listdir(folder) if _gfile(folder).isdir(folder) else []
    else:
        names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(os.path.join(folder, name) for name in names)


def read_text(path: str) -> str:
    """Returns the content of a file in UTF-8.

    Raises:
      OSError: the file cannot be read; `FileNotFoundError` if there is none.
      UnicodeDecodeError: it is no text.
    """
    return read_bytes(path).decode()


def read_bytes(path: str, most: int = -1) -> bytes:
    """Returns the content of a file.

    Args:
      path: the file, which may be a pipe or a device.
      most: number of bytes after which nothing more is read; below 0: all is.

    Raises:
      OSError: the file cannot be read; `FileNotFoundError` if it does not exist.
    """
    if not is_remote(path):
        with open_to_read(path) as file:
            return file.read(most)
    with _os_errors(path), _gfile(path).GFile(path, "rb") as file:
        return bytes(file.read(most))


def file_size(path: str) -> int:
    """Returns the bytes of a file.

    Raises:
      OSError: there is no such file.
    """
    if not is_remote(path):
        return os.path.getsize(path)
    with _os_errors(path):
        return int(_gfile(path).stat(path).length)


def write_bytes(path: str, content: bytes) -> None:
    """Writes a file whole or not at all, and makes missing folders.

    Raises:
      OSError: the file cannot be written.
    """
    folder, name = os.path.split(path)
    make_folder(folder or ".")
    if is_remote(path):
        from tf_frame.atomic_output import write_file

        with _os_errors(path):
            write_file(path, content)
        return
    temporary = os.path.join(folder, f".{name}.partial")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C, too; raised again.
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise


@contextlib.contextmanager
def _os_errors(path: str) -> Iterator[None]:
    """Turns TensorFlow's errors into Python's."""
    if not is_remote(path):
        yield
        return
    import tensorflow.compat.v1 as tf

    try:
        yield
    except tf.errors.NotFoundError as error:
        raise FileNotFoundError(2, error.message, path) from None
    except tf.errors.OpError as error:
        raise OSError(5, error.message, path) from None


def _gfile(path: str) -> Any:
    """Returns TensorFlow's file functions.

    Raises:
      ConfigError: TensorFlow knows no file system of the path's scheme.
    """
    import tensorflow.compat.v1 as tf

    schemes = set(filter(None, tf.io.gfile.get_registered_schemes()))
    if path.partition("://")[0] not in schemes:
        names = ", ".join(f"{scheme}://" for scheme in sorted(schemes))
        raise ConfigError(f"{short(path)}: TensorFlow knows no such file system; it knows {names}")
    return tf.io.gfile
