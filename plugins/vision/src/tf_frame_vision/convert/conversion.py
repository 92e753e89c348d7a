"""Converts pictures to TFRecord shards in parallel; a rerun continues a stopped conversion."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import math
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tf_frame.errors import (
    ConfigError,
    DataError,
    translated_write_errors,
    writing,
)
from tf_frame.text import printable, short
from tf_frame_vision.convert.records import Picture, Records
from tf_frame_vision.convert.settings import claim, finish, same_files, write_names
from tf_frame_vision.convert.shards import (
    DamagedShard,
    Progress,
    Rules,
    Shard,
    check_left_out,
    check_shard,
    make_shard,
    split_into_shards,
)

# Of a shard if no number is given: TensorFlow's tutorial "TFRecord and tf.train.Example" asks for
# 100 MB or more.
_SHARD_BYTES = 128 * 2**20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conversion:
    """Settings of a conversion.

    Attributes:
      kind: the kind of source.
      fingerprint: digest of the source's files, to notice changes.
      output: folder of the shards, which the conversion makes.
      split: the first part of the shards' names.
      shards: number of shards; None: one for each 128 MiB.
      num_bytes: size of the pictures.
      workers: number of shards that are written at the same time; None: one for each core.
      skip_corrupt: whether pictures that cannot be decoded are left out.
      seed: seed of the shuffling and of the validation part; None: neither is random.
      eval_fraction: part of the source that is for validation; 0: undivided.
      names_file: name of the file of the classes; empty: there is none.
      names: lines of this file.
      further: further settings that a rerun must repeat.
    """

    kind: str
    fingerprint: str
    output: Path
    split: str
    shards: int | None
    num_bytes: int
    workers: int | None
    skip_corrupt: bool
    seed: int | None = None
    eval_fraction: float = 0.0
    names_file: str = ""
    names: Sequence[str] = ()
    further: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Result:
    """Outcome of a conversion.

    Attributes:
      num_examples: examples in all shards.
      shards: number of shards.
      kept: shards that were finished before.
      skipped: names of the pictures that were left out.
    """

    num_examples: int
    shards: int
    kept: int
    skipped: Sequence[str]

    def text(self, num_classes: int) -> str:
        """Returns a line that describes the outcome."""
        kept = f", {self.kept} of them finished before" if self.kept else ""
        skipped = f"; {len(self.skipped)} corrupt images left out" if self.skipped else ""
        shards = "1 shard" if self.shards == 1 else f"{self.shards} shards"
        return f"{self.num_examples} images of {num_classes} classes in {shards}{kept}{skipped}"


@dataclasses.dataclass(frozen=True)
class _Outcome:
    """Outcome of one shard."""

    kept: bool
    skipped: list[str]


def convert(pictures: Sequence[Picture], records: Records, conversion: Conversion) -> Result:
    """Makes the shards that do not exist yet.

    Args:
      pictures: the pictures, in the order of writing.
      records: makes their records.

    Raises:
      ConfigError: other shards were made in that folder.
      DataError: there is no picture, or one cannot be decoded.
      TfFrameError: a file cannot be written.
    """
    if not pictures:
        raise DataError(f"SOURCE has no image for {conversion.split}")
    shards = _shard_count(len(pictures), conversion)
    settings = _settings(len(pictures), conversion, shards)
    with _folder(conversion.output):
        claim(conversion.output, conversion.split, settings)
        # Left by a killed conversion; the lock keeps running conversions out of this folder.
        for part in conversion.output.glob(f".{conversion.split}-*-of-*.partial"):
            part.unlink()
        if conversion.names_file:
            write_names(conversion.output, conversion.names_file, conversion.names)
        for line in same_files(conversion.output, conversion.split, settings):
            print(printable(f"warning: {line}"), file=sys.stderr, flush=True)
        result = _make_all(pictures, records, conversion, shards)
        finish(
            conversion.output,
            conversion.split,
            settings,
            {"num_examples": result.num_examples, "skipped": result.skipped},
        )
    return result


def _shard_count(num_pictures: int, conversion: Conversion) -> int:
    """Returns the number of shards: each has a picture at least."""
    wanted = conversion.shards or max(math.ceil(conversion.num_bytes / _SHARD_BYTES), 1)
    if conversion.shards and wanted > num_pictures:
        line = (
            f"note: {conversion.split} has {num_pictures} images, so --shards {wanted} is lowered "
            f"to {num_pictures}"
        )
        print(printable(line), file=sys.stderr, flush=True)
    return min(wanted, num_pictures)


def _settings(num_images: int, conversion: Conversion, shards: int) -> dict[str, Any]:
    return {
        "kind": conversion.kind,
        "shards": shards,
        "seed": conversion.seed,
        "eval_fraction": conversion.eval_fraction,
        "num_images": num_images,
        "source": conversion.fingerprint,
        **conversion.further,
    }


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Makes the folder, and locks it against other conversions."""
    with writing(f"OUTPUT {short(path)}"):
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    try:
        with translated_write_errors(
            f"cannot write to {path}",
            "mend that and run the same command again: shards that are finished are kept",
        ):
            _lock(descriptor, path)
            yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ConfigError(
            f"another conversion is writing to {short(path)}: wait for its end"
        ) from error


def _make_all(
    pictures: Sequence[Picture], records: Records, conversion: Conversion, number: int
) -> Result:
    shards = split_into_shards(pictures, conversion.output, conversion.split, number)
    with Progress(len(pictures), len(shards)) as progress:
        rules = Rules(records, conversion.skip_corrupt, threading.Event(), progress)
        outcomes = _in_parallel(shards, rules, conversion.workers)
    skipped = [name for outcome in outcomes for name in outcome.skipped]
    if len(skipped) == len(pictures):
        for shard in shards:
            shard.path.unlink()
        raise DataError(
            f"none of the {len(skipped)} images can be decoded, beginning with {skipped[0]}: is "
            "SOURCE the right folder?"
        )
    kept = sum(outcome.kept for outcome in outcomes)
    return Result(len(pictures) - len(skipped), number, kept, skipped)


def _in_parallel(shards: Sequence[Shard], rules: Rules, workers: int | None) -> list[_Outcome]:
    """Makes shards in threads: decoding and writing release Python's lock."""
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        futures = [pool.submit(_make_or_keep, shard, rules) for shard in shards]
        try:
            for future in as_completed(futures):
                future.result()
                rules.progress.shard_done()
        except BaseException:  # Ctrl-C, too; raised again.
            rules.stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _make_or_keep(shard: Shard, rules: Rules) -> _Outcome:
    if shard.path.exists():
        try:
            return _keep(shard, rules)
        except DamagedShard as error:
            rules.progress.report(f"{shard.path} is made again: {error}")
    return _Outcome(kept=False, skipped=make_shard(shard, rules))


def _keep(shard: Shard, rules: Rules) -> _Outcome:
    missing = check_shard(shard, rules).missing
    check_left_out(shard, missing, rules.records)
    if missing and not rules.skip_corrupt:
        raise DataError(
            f"{short(shard.path)}, made with --skip_corrupt, does without {len(missing)} images, "
            f"such as {missing[0]}; give --skip_corrupt again, or mend them and delete that file"
        )
    rules.progress.advance(len(shard.pictures))
    return _Outcome(kept=True, skipped=missing)
