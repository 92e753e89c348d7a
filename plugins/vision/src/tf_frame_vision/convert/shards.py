"""Writes TFRecord shards, and reads each one back to verify it.

A shard gets its name only then, so that one with this name is whole even if the conversion was
killed or the disk was full; a rerun keeps it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import atomic_output
from tf_frame.errors import DataError, TfFrameError, short_reason, translated_write_errors
from tf_frame.progress_bar import ProgressBar
from tf_frame.text import printable, short
from tf_frame_vision.convert.records import CorruptImage, Picture, Records


@dataclasses.dataclass(frozen=True)
class Shard:
    """One file to write, and its pictures."""

    path: Path
    pictures: Sequence[Picture]


@dataclasses.dataclass(frozen=True)
class Content:
    """Content of a shard that was read back.

    Attributes:
      missing: names of the pictures that are not in the shard.
      digests: one of each record.
    """

    missing: list[str]
    digests: list[bytes]


class Progress:
    """Progress of a conversion: a bar on a terminal, elsewhere a line for each shard.

    Threads may use it at the same time.

    Args:
      num_pictures: number of pictures of the conversion.
      num_shards: number of its shards.
    """

    def __init__(self, num_pictures: int, num_shards: int) -> None:
        self._lock = threading.Lock()
        self._num_shards = num_shards
        self._shards_done = 0
        self._bar = ProgressBar(total=num_pictures, unit="image", desc="convert", file=sys.stderr)

    def advance(self, number: int = 1) -> None:
        """Counts pictures that are done."""
        with self._lock:
            self._bar.update(number)

    def shard_done(self) -> None:
        """Counts a shard that is whole."""
        with self._lock:
            self._shards_done += 1
            if self._bar.disable:
                line = f"{self._shards_done} of {self._num_shards} shards done"
                print(printable(line), file=sys.stderr, flush=True)

    def report(self, line: str) -> None:
        """Prints a line above the bar."""
        with self._lock:
            ProgressBar.write(printable(line), file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *failure: object) -> None:
        self._bar.close()


@dataclasses.dataclass(frozen=True)
class Rules:
    """Settings that all shards of a conversion share.

    Attributes:
      records: makes the records.
      skip_corrupt: whether a picture that cannot be decoded is left out.
      stop: set when the conversion must end early.
      progress: counts the pictures.
    """

    records: Records
    skip_corrupt: bool
    stop: threading.Event
    progress: Progress


class Stopped(Exception):
    """The conversion ended before this shard was whole."""


class DamagedShard(Exception):
    """A shard does not hold what it should."""


def split_into_shards(
    pictures: Sequence[Picture], output: Path, split: str, number: int
) -> list[Shard]:
    """Cuts the pictures into shards; their sizes differ by one at most."""
    bounds = [len(pictures) * shard // number for shard in range(number + 1)]
    return [
        Shard(
            output / f"{split}-{shard:05}-of-{number:05}",
            pictures[bounds[shard] : bounds[shard + 1]],
        )
        for shard in range(number)
    ]


def make_shard(shard: Shard, rules: Rules) -> list[str]:
    """Writes a shard under a temporary name, reads it back, and gives it its name.

    Returns:
      The names of the pictures that were left out.

    Raises:
      DataError: a picture cannot be decoded, or read.
      TfFrameError: the shard cannot be written, or was read back as something else.
      Stopped: the conversion must end.
    """
    with (
        translated_write_errors(
            f"cannot write {shard.path}",
            "mend that and run the same command again: shards that are finished are kept",
        ),
        atomic_output(str(shard.path)) as temporary,
    ):
        digests = _write(temporary, shard, rules)
        return _read_back(temporary, shard, digests, rules)


def check_shard(shard: Shard, rules: Rules) -> Content:
    """Reads a shard that is there already.

    Raises:
      DamagedShard: it cannot be read, or holds something else.
      Stopped: the conversion must end.
    """
    expected = iter(shard.pictures)
    content = Content([], [])
    for record in _records(shard.path):
        _check_on(rules.stop)
        identity = _record_identity(record, rules.records)
        content.missing.extend(_before(identity, expected, rules.records))
        content.digests.append(hashlib.sha256(record).digest())
    content.missing.extend(picture.filename for picture in expected)
    return content


def check_left_out(shard: Shard, missing: Sequence[str], records: Records) -> None:
    """Checks that the pictures that a shard does without are corrupt ones.

    A file that was cut between two records looks like a shard without its last pictures.

    Raises:
      DamagedShard: one of them can be decoded.
    """
    names = set(missing)
    for picture in shard.pictures:
        if picture.filename in names and not _is_corrupt(picture, records):
            raise DamagedShard(
                f"it has {len(shard.pictures) - len(missing)} of {len(shard.pictures)} records; "
                f"{picture.filename}, which is sound, is missing"
            )


def _is_corrupt(picture: Picture, records: Records) -> bool:
    try:
        records.record(picture)
    except CorruptImage:
        return True
    return False


def _before(identity: str, expected: Iterator[Picture], records: Records) -> Iterator[str]:
    """Names of the pictures that come before the one that was found."""
    for picture in expected:
        if records.identity(picture) == identity:
            return
        yield picture.filename
    raise DamagedShard(f"it holds {identity}, which does not belong there")


def _write(path: str, shard: Shard, rules: Rules) -> list[bytes]:
    """Writes the records of a shard to disk; returns the digest of each."""
    digests: list[bytes] = []
    with tf.io.TFRecordWriter(path) as writer:
        for picture in shard.pictures:
            _check_on(rules.stop)
            record = _record_or_none(picture, rules)
            if record is not None:
                writer.write(record)
                digests.append(hashlib.sha256(record).digest())
            rules.progress.advance()
    # Before the file is renamed: after a loss of power the name could exist without the content.
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return digests


def _check_on(stop: threading.Event) -> None:
    if stop.is_set():
        raise Stopped


def _record_or_none(picture: Picture, rules: Rules) -> bytes | None:
    """Returns the record of a picture; None for a corrupt picture that is left out."""
    try:
        return rules.records.record(picture)
    except CorruptImage as error:
        if not rules.skip_corrupt:
            raise DataError(f"{error}; mend or remove it, or give --skip_corrupt") from error
        rules.progress.report(f"left out: {error}")
        return None


def _read_back(path: str, shard: Shard, digests: list[bytes], rules: Rules) -> list[str]:
    """Compares a shard on disk with what was written; returns the pictures that were left out."""
    try:
        content = check_shard(dataclasses.replace(shard, path=Path(path)), rules)
        if content.digests != digests:
            raise DamagedShard(
                f"of {len(digests)} records {len(content.digests)} were read back, or others"
            )
    except DamagedShard as error:
        raise TfFrameError(
            f"{short(shard.path)} was not written well: {error}; check the disk"
        ) from error
    return content.missing


def _records(path: Path) -> Iterator[bytes]:
    try:
        yield from tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    except tf.errors.OpError as error:
        raise DamagedShard(f"it cannot be read: {short_reason(error)}") from error


def _record_identity(record: bytes, records: Records) -> str:
    try:
        return records.record_identity(record)
    except ValueError as error:
        raise DamagedShard(f"a record is damaged: {error}") from error
