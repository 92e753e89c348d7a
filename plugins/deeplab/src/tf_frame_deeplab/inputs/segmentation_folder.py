"""The input `segmentation_folder`: images, and for each a mask of the same name.

data_dir/classes.txt                                the classes; see `inputs.classes`
data_dir/images/NAME.jpg, data_dir/masks/NAME.png   two folders
data_dir/NAME.jpg, data_dir/NAME.png                or side by side,
data_dir/NAME.jpg, data_dir/NAME_mask.png           perhaps with a suffix
data_dir/train/..., data_dir/val/...                both parts, each in one of these forms
data_dir/train.txt, data_dir/val.txt                or lists of names without ending
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_deeplab.inputs.classes import read_classes
from tf_frame_deeplab.inputs.mask_file import (
    DamagedPairError,
    Facts,
    Pair,
    check_pixels,
    examine,
)
from tf_frame_deeplab.inputs.pairs import find_pairs, listed
from tf_frame_deeplab.inputs.segmented_images import SegmentedImageOptions, SegmentedImages
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import existing_folder, first_existing, held_out

_TRAINING, _EVALUATION = "train", ("val", "validation", "test")
_WHAT_TO_DO = (
    "Give --input.data_dir a folder with classes.txt, a folder images, and a folder masks with a"
    " PNG of the same name for each image"
)
# Pixels that are decoded before a run starts; what is beyond is checked when it is read.
_CHECKED_PIXELS = 200e6


@dataclasses.dataclass(frozen=True)
class Params(SegmentedImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with classes.txt, images and masks; must be given")
    classes: str = option("", "file of the classes; empty: classes.txt of data_dir")
    mask_suffix: str = option("", "what follows the name of an image in that of its mask")
    train_list: str = option("", "file of the names to train on; empty: train.txt if it is there")
    eval_list: str = option("", "file of the names to evaluate; empty: val.txt if it is there")
    eval_fraction: float = option(
        0.1,
        "part of the images that is held out for evaluation, where nothing else says which; 0: "
        "none, nothing is evaluated",
        min=0.0,
        max=0.9,
    )


class SegmentationFolder(SegmentedImages):
    """Images and masks of a folder; masks are grey values, palettes or colours."""

    Params: ClassVar[type] = Params

    def find(self) -> None:
        params = self.params
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        path = Path(params.classes).expanduser() if params.classes else folder / "classes.txt"
        self.classes = read_classes(path, ignore_label=params.ignore_label)
        self._unchecked = 0
        training, evaluation = self._parts(folder)
        absent = absent_split(
            f"--input.eval_fraction {params.eval_fraction} of {folder} leaves nothing to"
            " evaluate. Make it larger, or write val.txt"
        )
        evaluated = self._split(evaluation) if evaluation else absent
        self.use(self.classes.names, self._split(training), evaluated)

    def notes(self) -> Sequence[str]:
        """Says how many pairs are checked only when they are read."""
        if not self._unchecked:
            return ()
        return (f"the pixels of {self._unchecked} masks are checked when they are read",)

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_deeplab.inputs.mask_examples import pair_examples

        pairs, facts = split.content
        return pair_examples(pairs, facts, self.classes.colours, order)

    def _parts(self, folder: Path) -> tuple[Sequence[Pair], Sequence[Pair]]:
        """The pairs to train on, and those to evaluate."""
        params, suffix = self.params, self.params.mask_suffix
        lists = [
            Path(given).expanduser() if given else first_existing(folder, names)
            for given, names in (
                (params.train_list, ["train.txt"]),
                (params.eval_list, [f"{name}.txt" for name in _EVALUATION]),
            )
        ]
        if any(lists):
            return self._listed(folder, *lists)
        evaluation = first_existing(folder, _EVALUATION)
        if evaluation is not None and (folder / _TRAINING).is_dir():
            return find_pairs(folder / _TRAINING, suffix), find_pairs(evaluation, suffix)
        pairs = find_pairs(folder, suffix)
        chosen = held_out([pair.name for pair in pairs], params.eval_fraction)
        return (
            [pair for pair in pairs if pair.name not in chosen],
            [pair for pair in pairs if pair.name in chosen],
        )

    def _listed(
        self, folder: Path, training: Path | None, evaluation: Path | None
    ) -> tuple[Sequence[Pair], Sequence[Pair]]:
        pairs = find_pairs(folder, self.params.mask_suffix, all_have_masks=False)
        both = [None if path is None else listed(path, pairs) for path in (training, evaluation)]
        # With one list, the other part is what it leaves over.
        for k in (0, 1):
            if both[k] is None:
                names = {pair.name for pair in both[1 - k] or ()}
                both[k] = [pair for pair in pairs if pair.name not in names]
        return both[0] or [], both[1] or []

    def _split(self, pairs: Sequence[Pair]) -> Split:
        """Checks pairs; those that are damaged end the run, or with `skip_corrupt` are left out."""
        with ThreadPoolExecutor() as pool:
            found = list(pool.map(_facts, pairs))
            sizes = (f.height * f.width if isinstance(f, Facts) else 0 for f in found)
            first = sum(total <= _CHECKED_PIXELS for total in itertools.accumulate(sizes))
            self._unchecked += len(pairs) - first
            found = [*pool.map(self._decoded, pairs[:first], found), *found[first:]]
        damaged = [each for each in found if isinstance(each, str)]
        if damaged and not self.params.skip_corrupt:
            more = f" ({len(damaged) - 1} more like this)" if len(damaged) > 1 else ""
            raise DataError(f"{damaged[0]}{more}; mend it, or give --input.skip_corrupt")
        kept = [(p, f) for p, f in zip(pairs, found, strict=True) if isinstance(f, Facts)]
        content = [pair for pair, _ in kept], [facts for _, facts in kept]
        return Split(len(kept), content, damaged)

    def _decoded(self, pair: Pair, facts: Facts | str) -> Facts | str:
        if isinstance(facts, Facts):
            try:
                check_pixels(pair, facts, self.classes, self.params.ignore_label)
            except DamagedPairError as error:
                return str(error)
        return facts


def _facts(pair: Pair) -> Facts | str:
    """What the headers of a pair say; or why it cannot be used."""
    try:
        return examine(pair)
    except DamagedPairError as error:
        return str(error)
