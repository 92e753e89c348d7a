"""Finds the training and the evaluation part of a folder of images and masks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from tf_frame import option
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_deeplab.inputs.pairs import find_pairs, select_listed
from tf_frame_vision.reading.folders import HeldOutOptions, first_existing, held_out

_TRAINING, _EVALUATION = "train", ("val", "validation", "test")
Parts = tuple[Sequence[Pair], Sequence[Pair]]


@dataclasses.dataclass(frozen=True)
class FormOptions(HeldOutOptions):
    """Options of the form of a folder."""

    classes: str = option("", "file of the classes; empty: classes.txt of the folder")
    mask_suffix: str = option("", "ending of a mask's name after the name of its image")
    train_list: str = option("", "file of the names to train on; empty: train.txt if it is there")
    eval_list: str = option("", "file of the names to evaluate; empty: val.txt if it is there")


def find_parts(folder: Path, options: FormOptions) -> Parts:
    """Returns the pairs to train on and the pairs to evaluate; see `inputs.segmentation_folder`.

    Args:
      folder: the folder.
      options: the form of the folder.

    Raises:
      DataError: a part has no pair, or a file has no other half.
    """
    lists = [
        Path(option).expanduser() if option else first_existing(folder, names)
        for option, names in (
            (options.train_list, ["train.txt"]),
            (options.eval_list, [f"{name}.txt" for name in _EVALUATION]),
        )
    ]
    if any(lists):
        pairs = find_pairs(folder, options.mask_suffix, all_have_masks=False)
        return _split_by_lists(pairs, *lists)
    evaluation, suffix = first_existing(folder, _EVALUATION), options.mask_suffix
    if evaluation is not None and (folder / _TRAINING).is_dir():
        return find_pairs(folder / _TRAINING, suffix), find_pairs(evaluation, suffix)
    pairs = find_pairs(folder, suffix)
    chosen = held_out([pair.name for pair in pairs], options.eval_fraction)
    return (
        [pair for pair in pairs if pair.name not in chosen],
        [pair for pair in pairs if pair.name in chosen],
    )


def _split_by_lists(pairs: Sequence[Pair], training: Path | None, evaluation: Path | None) -> Parts:
    both = [None if path is None else select_listed(path, pairs) for path in (training, evaluation)]
    # With one list, the second part is the remainder.
    for k in (0, 1):
        if both[k] is None:
            names = {pair.name for pair in both[1 - k] or ()}
            both[k] = [pair for pair in pairs if pair.name not in names]
    return both[0] or [], both[1] or []
