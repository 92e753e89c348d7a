"""Files of the source of a conversion: checks, reading, and a digest to notice changes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tf_frame.errors import ConfigError, DataError
from tf_frame.text import short
from tf_frame.visible_files import open_to_read


def check_folder(path: Path, what: str) -> None:
    """Raises a `DataError` if the path is no folder; `what` is the content that it should have."""
    if not path.exists():
        raise DataError(f"there is no {short(path)}: give the folder of {what}")
    if not path.is_dir():
        raise DataError(f"{short(path)} is a file: give the folder of {what}")


def check_apart(source: Path, output: Path) -> None:
    """Raises a `ConfigError` if the output is within the source."""
    if output.resolve().is_relative_to(source.resolve()):
        raise ConfigError(
            f"OUTPUT {output} is within SOURCE {short(source)}: a later run would read it; "
            "choose a folder next to it"
        )


class SourceFiles(NamedTuple):
    """Description of the files of a source.

    Attributes:
      digest: digest of names, sizes and times, to notice changes.
      num_bytes: size of all files; a file that occurs several times counts once.
    """

    digest: str
    num_bytes: int


def examine_files(root: Path, paths: Iterable[Path]) -> SourceFiles:
    """Returns a digest and the size of files.

    Args:
      root: the folder that the names of files within it begin at.

    Raises:
      DataError: a file cannot be looked at.
    """
    digest, sizes = hashlib.sha256(), {}
    for path in paths:
        status = _status(path)
        sizes[path] = status.st_size
        within = path.is_relative_to(root)
        name = (path.relative_to(root) if within else path).as_posix()
        digest.update(ascii((name, status.st_size, status.st_mtime_ns)).encode())
    return SourceFiles(digest.hexdigest(), sum(sizes.values()))


def content(path: Path) -> bytes:
    """Returns the content of a file.

    Raises:
      DataError: it cannot be read.
    """
    try:
        with open_to_read(path) as file:
            return file.read()
    except OSError as error:
        raise DataError(f"cannot read {short(path)}: {error.strerror}") from error


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise DataError(
            f"cannot read {short(path)}: {error.strerror}; mend or remove it"
        ) from error
