"""The parts of a data set in TFRecord files: records to train on, and records to evaluate.

data_dir/train-00000-of-00004 ...   records to train on, perhaps gzipped
data_dir/val-00000-of-00004 ...     records to evaluate; may be missing
data_dir/test-00000-of-00004 ...    evaluated with `--input.eval_split test`
data_dir/train/*.tfrecord ...       or a folder for each part, as Roboflow has it

`tf_frame_vision.reading.splits` has the names of folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError, NoDataError
from tf_frame.text import short
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.folders import existing_folder, visible
from tf_frame_vision.reading.record_facts import RecordFacts
from tf_frame_vision.reading.record_index import RecordIndex, index_records
from tf_frame_vision.reading.shards import find_shards
from tf_frame_vision.reading.splits import EVAL, Splits, check_one_choice, find_splits, split_kind

# Names of tf-frame's own records, of slim's data sets, and of the object detection API.
_TEST = (
    *("test-*", "testing-*", "*_test_*.tfrecord", "*_test.tfrecord", "*_test*.tfrecord.gz"),
    *("*test*.record*", "test*.tfrecord*"),
)
_IN_FOLDER = ("*-of-*", "*.tfrecord*", "*.record*")
Parts = tuple[Path, Split, Split, Splits]


def record_splits(params: Any) -> Parts:
    """Finds the records that the options of an input name.

    Without files to evaluate, a run trains and evaluates nothing; it is an error if
    `eval_pattern` is not the default, or if the test part is asked for.

    Args:
      params: a dataclass with the options `data_dir`, `train_pattern`, `eval_pattern`,
        `eval_split` and `skip_corrupt`.

    Returns:
      The folder, the records to train on, the records to evaluate, and the parts by their names.

    Raises:
      ConfigError, DataError: no such folder or files, or files that cannot be read; see
        `find_shards` and `make_record_split`.
    """
    check_one_choice(params, "eval_pattern")
    what_to_do = "Give --input.data_dir the folder with the TFRecord files"
    folder = existing_folder(params.data_dir, "--input.data_dir", what_to_do)
    if not _matching(folder, params.train_pattern):
        splits = find_splits(folder, eval_split=params.eval_split)
        if splits.train is not None:
            evaluation = absent_split(f"{folder} has no folder to evaluate, such as val")
            if splits.eval is not None:
                evaluation = _read(splits.eval, _IN_FOLDER, "--input.eval_pattern", params)
            training = _read(splits.train, _IN_FOLDER, "--input.train_pattern", params)
            return folder, training, evaluation, splits
    return _from_patterns(folder, params)


def _from_patterns(folder: Path, params: Any) -> Parts:
    training = _read(folder, params.train_pattern, "--input.train_pattern", params)
    patterns, may_miss = params.eval_pattern, False
    if patterns == type(params).eval_pattern:
        _check_meaning(folder)
        may_miss = params.eval_split != "test"
        patterns = patterns if may_miss else _TEST
    tests = _matching(folder, _TEST)
    used = {*_matching(folder, params.train_pattern), *_matching(folder, patterns)}
    unused = tests[:1] if used.isdisjoint(tests) else []
    parts = Splits(test=folder / tests[0] if tests else None, unused=unused)
    try:
        return folder, training, _read(folder, patterns, "--input.eval_pattern", params), parts
    except NoDataError as error:
        if not may_miss:
            raise
        return folder, training, absent_split(error), parts


def _matching(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Returns the names of the files that the first pattern matches that matches any."""
    names = visible(folder, folders=False)
    matches = ([name for name in names if fnmatchcase(name, pattern)] for pattern in patterns)
    return next(filter(None, matches), [])


def _read(folder: Path, patterns: Sequence[str], option: str, params: Any) -> Split:
    paths = find_shards(folder, patterns, option)
    return make_record_split(paths, skip_corrupt=params.skip_corrupt)


def _check_meaning(folder: Path) -> None:
    """Refuses shards of two parts to evaluate, such as `val-*` and `valid-*`."""
    prefixes = {name.split("-")[0] for name in visible(folder, folders=False) if "-" in name}
    evaluated = sorted(prefix for prefix in prefixes if split_kind(prefix) == EVAL)
    if len(evaluated) > 1:
        raise DataError(
            f"{short(folder)} has both {evaluated[0]}-* and {evaluated[1]}-*, of the same "
            "meaning; remove one of them, or give --input.eval_pattern"
        )


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
        raise DataError(f"there is no record in {', '.join(map(short, paths[:3]))}")
    return Split(count, indices, damaged)


def record_content(
    split: Split, facts: RecordFacts, counts: Mapping[str, Any], **more: Any
) -> SplitContent:
    """Returns the content of a split of records, for `ExampleInput.content`.

    Args:
      split: made by `make_record_split`.
      facts: about its records.
      counts: `counts`, and perhaps `without_label`, of the content.
      more: further attributes.
    """
    paths = [index.path for index in split.content]
    return SplitContent(
        **counts,
        counted=facts.counted,
        sizes=facts.sizes,
        root=paths[0].parent,
        files=facts.names,
        digests=facts.digests,
        pictures=facts.pictures,
        sources=[str(path) for path in paths],
        **more,
    )


def _rest_lost(index: RecordIndex) -> Damage:
    reason = "it and what follows in this file cannot be read"
    clause = index.damage.removeprefix(f"{index.path}: ")
    return Damage(str(index.path), f"{clause}; {reason}", reason)
