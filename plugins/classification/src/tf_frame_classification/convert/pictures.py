"""`Picture` and `Source`: data to convert in one form for the writer of shards.

A picture is loaded only when it is written, because a data set may not fit into memory.
"""

from __future__ import annotations

import dataclasses
import gzip
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.visible_files import open_to_read

_GZIP_MAGIC = b"\x1f\x8b"


# Slots save memory: a data set may have a million pictures.
@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """One labelled picture, not read yet.

    Attributes:
      filename: unique name in the source.
      label: number of the class.
      load: returns the content of an image file, or pixels `[height, width, channels]` uint8.
    """

    filename: str
    label: int
    load: Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Source:
    """Pictures to convert, in the order of the records.

    Attributes:
      class_names: the name of each class, in the order of their numbers.
      pictures: the pictures.
      fingerprint: a digest of the files, to notice that they have changed.
      num_bytes: size of the pictures, in files or as pixels.
    """

    class_names: Sequence[str]
    pictures: Sequence[Picture]
    fingerprint: str
    num_bytes: int


def read_file(path: Path) -> bytes:
    """Returns the content of a file, unpacked if it is gzipped.

    Raises:
      DataError: the file cannot be read.
    """
    try:
        with open_to_read(path) as file:
            content = file.read()
        return gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {short(path)}: {error}; fetch the file again") from error
