"""The parts of a data set in TFRecord files: records to train on, and records to evaluate.

data_dir/train-00000-of-00004 ...   records to train on, perhaps gzipped
data_dir/val-00000-of-00004 ...     records to evaluate; may be missing
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError, NoDataError
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import existing_folder, find_shards
from tf_frame_vision.reading.record_index import RecordIndex, index_records


def record_splits(params: Any) -> tuple[Path, Split, Split]:
    """Finds the records that the options of an input name.

    Without files to evaluate, a run trains and evaluates nothing; it is an error if
    `eval_pattern` is not the default.

    Args:
      params: a dataclass with the options `data_dir`, `train_pattern`, `eval_pattern` and
        `skip_corrupt`.

    Returns:
      The folder, the records to train on, and the records to evaluate.

    Raises:
      ConfigError, DataError: no such folder or files, or files that cannot be read; see
        `find_shards` and `make_record_split`.
    """
    what_to_do = "Give --input.data_dir the folder with the TFRecord files"
    folder = existing_folder(params.data_dir, "--input.data_dir", what_to_do)

    def split(name: str) -> Split:
        paths = find_shards(folder, getattr(params, name), f"--input.{name}")
        return make_record_split(paths, skip_corrupt=params.skip_corrupt)

    training = split("train_pattern")
    try:
        return folder, training, split("eval_pattern")
    except NoDataError as error:
        if params.eval_pattern != type(params).eval_pattern:
            raise
        return folder, training, absent_split(error)


def make_record_split(paths: Sequence[Path], *, skip_corrupt: bool) -> Split:
    """Finds the records of TFRecord files; `content` is a list of `RecordIndex`.

    Args:
      skip_corrupt: whether to leave out records behind a damaged length.

    Raises:
      DataError: a length is damaged and must not be left out, or there is no record at all.
    """
    indices = [index_records(path) for path in paths]
    damaged = [_rest_lost(index) for index in indices if index.damage]
    if damaged and not skip_corrupt:
        raise DataError(f"{damaged[0]}; copy or write the file again, or give --input.skip_corrupt")
    count = sum(len(index.offsets) for index in indices)
    if not count:
        raise DataError(f"there is no record in {', '.join(map(str, paths[:3]))}")
    return Split(count, indices, damaged)


def _rest_lost(index: RecordIndex) -> str:
    return f"{index.damage}; it and what follows in this file cannot be read"
