"""Finds the training and the evaluation part of a folder of images and masks."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tf_frame import option
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_deeplab.inputs.pairs import (
    find_folders,
    find_pairs,
    listed_names,
    pairs_in,
    select_listed,
)
from tf_frame_vision.reading.folders import FractionOptions, divide_names, left_out_notes
from tf_frame_vision.reading.splits import Splits, check_held_out, find_splits, is_whole, split_kind

# VOC, and CVAT's export of its name, have the lists here.
_LISTS = (".", "ImageSets/Segmentation")


@dataclasses.dataclass(frozen=True)
class FormOptions(FractionOptions):
    """Options of the form of a folder."""

    classes: str = option(
        "", "file of the classes; empty: classes.txt of the folder, or CVAT's or Roboflow's file"
    )
    mask_suffix: str = option("", "ending of a mask's name after the name of its image")
    train_list: str = option("", "file of the names to train on; empty: train.txt if it is there")
    eval_list: str = option("", "file of the names to evaluate; empty: val.txt if it is there")


@dataclasses.dataclass(frozen=True)
class Parts:
    """The pairs of a folder.

    Attributes:
      training, evaluation: the pairs to train on and to evaluate.
      splits: the lists or folders of the parts.
      notes: lines to show before training.
    """

    training: Sequence[Pair]
    evaluation: Sequence[Pair]
    splits: Splits
    notes: Sequence[str] = ()


def find_parts(folder: Path, options: FormOptions, *, eval_split: str = "val") -> Parts:
    """Finds the pairs to train on and to evaluate; see `inputs.segmentation_folder`.

    Args:
      folder: the folder.
      options: the form of the folder.
      eval_split: the option `--input.eval_split`.

    Raises:
      DataError: a part has no pair, or a file has no other half.
    """
    lists, unused = _find_lists(folder, options, eval_split)
    left_out: Counter[str] = Counter()
    parts = (
        _split_by_lists(folder, options, lists, unused, left_out)
        if lists.train or lists.eval
        else _split_by_folders(folder, options, eval_split, left_out)
    )
    return dataclasses.replace(parts, notes=[*parts.notes, *left_out_notes(left_out)])


def _split_by_folders(
    folder: Path, options: FormOptions, eval_split: str, left_out: Counter[str]
) -> Parts:
    suffix = options.mask_suffix
    splits = find_splits(folder, eval_split=eval_split)

    def read(part: Path) -> list[Pair]:
        return find_pairs(part, suffix, left_out)

    images, masks = find_folders(folder)
    if splits.train is None and images is not None and masks is not None:
        splits = find_splits(images, eval_split=eval_split)

        def read(part: Path) -> list[Pair]:
            return pairs_in(part, masks / part.name, suffix, left_out)

    if splits.train is None:
        check_held_out(folder, eval_split)
        return _divide(find_pairs(folder, suffix, left_out), options, Splits())
    training = read(splits.train)
    if splits.eval is None:
        return _divide(training, options, splits)
    return Parts(training, read(splits.eval), splits)


def _find_lists(
    folder: Path, options: FormOptions, eval_split: str
) -> tuple[Splits, Sequence[Path]]:
    """Finds the lists of names: by the options, else by the names of the lists.

    Returns:
      The lists, and the unused lists of other evaluation data, such as `test.txt`.
    """
    training, evaluation = (
        Path(path).expanduser() if path else None
        for path in (options.train_list, options.eval_list)
    )
    if training and evaluation:
        return Splits(training, evaluation), ()
    lists, place = Splits(), folder
    for inner in _LISTS:
        if (folder / inner).is_dir() and not (lists.train or lists.eval):
            place = folder / inner
            lists = find_splits(place, eval_split=eval_split, ending=".txt")
    unused = [place / name for name in lists.unused if split_kind(Path(name).stem)]
    names = {*lists.unused, *([lists.eval.name] if evaluation and lists.eval else [])}
    lists = Splits(
        training or lists.train, evaluation or lists.eval, lists.test, tuple(sorted(names))
    )
    return lists, unused


def _divide(pairs: Sequence[Pair], options: FormOptions, splits: Splits) -> Parts:
    """Holds out a part of the pairs."""
    division = divide_names([pair.name for pair in pairs], options.eval_fraction)
    training, evaluation = ([pair for pair in pairs if pair.name in part] for part in division)
    return Parts(training, evaluation, splits)


def _split_by_lists(
    folder: Path,
    options: FormOptions,
    lists: Splits,
    unused: Sequence[Path],
    left_out: Counter[str],
) -> Parts:
    pairs = find_pairs(folder, options.mask_suffix, left_out, all_have_masks=False)
    notes: list[str] = []
    both = [path and select_listed(path, pairs, notes) for path in (lists.train, lists.eval)]
    # With one list, the second part is the remainder, without the images of unused lists.
    other_names = {name for path in unused for name in listed_names(path, pairs)}
    for k in (0, 1):
        if both[k] is None:
            names = {pair.name for pair in both[1 - k] or ()} | other_names
            both[k] = [pair for pair in pairs if pair.name not in names]
    training, evaluation = both[0] or [], both[1] or []
    if lists.eval is None and lists.train and is_whole(lists.train.stem):
        return dataclasses.replace(_divide(training, options, lists), notes=notes)
    return Parts(training, evaluation, lists, notes)
