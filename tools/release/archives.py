"""Wheels and sdists whose bytes depend on their content and on one time alone.

Packers record owners, modes and times of files, and the order in which the disk lists them.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import time
import zipfile
from pathlib import Path

_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_REGULAR_FILE = 0o100000


def normalise(archive: Path, epoch: int) -> None:
    """Writes a wheel or an sdist anew, without the traces of the machine that packed it.

    Args:
      archive: a `.whl` or a `.tar.gz`.
      epoch: time of all files, in seconds since 1970.
    """
    writer = _wheel_bytes if archive.suffix == ".whl" else _sdist_bytes
    archive.write_bytes(writer(archive, epoch))


def _wheel_bytes(wheel: Path, epoch: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(packed, "w") as new:
        for name in sorted(old.namelist(), key=_order_in_wheel):
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (_REGULAR_FILE | _FILE_MODE) << 16
            new.writestr(entry, old.read(name), compresslevel=9)
    return packed.getvalue()


def _order_in_wheel(name: str) -> tuple[bool, bool, str]:
    """Sorts metadata to the end, where the format wants it, and RECORD behind all."""
    folder = name.partition("/")[0]
    return folder.endswith(".dist-info"), name.endswith("/RECORD"), name


def _sdist_bytes(sdist: Path, epoch: int) -> bytes:
    packed = io.BytesIO()
    with (
        tarfile.open(sdist) as old,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=packed, mtime=epoch) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size, entry.mtime = member.type, member.size, epoch
            entry.mode = _FOLDER_MODE if member.isdir() else _FILE_MODE
            new.addfile(entry, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()
