"""Unpacks archives with published checkpoints, as untrusted files: plain files inside of a folder.

Slim, DeepLab and the detection API have published `.tar.gz` files with the files of a checkpoint, a
frozen graph, and others, in a folder.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from tf_frame.errors import DataError
from tf_frame.text import brief, readable_bytes, short

ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")
# Compressed text can be a thousand times smaller than its content, and values hardly at all.
_MOST_TIMES, _LEAST_BOUND = 100, 2**20
_MOST_FILES = 10_000
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, OSError)


def unpack(archive: str, folder: str) -> list[str]:
    """Unpacks the files of an archive into a folder that exists; returns their paths inside.

    Links, devices and the like are left out, and so are the rights of files.

    Raises:
      DataError: the archive is damaged, has a path outside of itself, or has far more content than
        its size lets expect.
    """
    bound = max(_LEAST_BOUND, _MOST_TIMES * os.path.getsize(archive))
    paths: list[str] = []
    try:
        for name, size, content in _members(archive):
            bound -= size
            if bound < 0 or len(paths) >= _MOST_FILES:
                raise DataError(
                    f"{short(archive)} has more content than an archive of "
                    f"{readable_bytes(os.path.getsize(archive))} should have; it is not unpacked"
                )
            path = _inside(archive, name)
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with content, open(target, "xb") as file:
                shutil.copyfileobj(content, file)
            paths.append(path)
    except FileExistsError as error:
        raise DataError(f"{short(archive)} has the file {short(error.filename)} twice") from None
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # Of the folder, not of the archive.
        raise DataError(f"{short(archive)} is damaged: {short(error)}") from None
    return paths


def _members(archive: str) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Yields name, size and content of each plain file."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield info.filename, info.file_size, packed.open(info)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, member.size, content


def _inside(archive: str, name: str) -> str:
    """Returns the path of a member, which must lie inside of the archive's folder."""
    parts = name.replace("\\", "/").split("/")
    if os.path.isabs(name) or ".." in parts or "\0" in name or not parts[-1]:
        raise DataError(f"{short(archive)} has the path {brief(name)}, which is not unpacked")
    return os.path.join(*(part for part in parts if part not in ("", ".")))
