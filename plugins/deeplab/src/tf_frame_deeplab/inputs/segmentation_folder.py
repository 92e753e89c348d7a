"""The input `segmentation_folder`: images and masks with the same names.

data_dir/classes.txt                                the classes; see `inputs.classes`
data_dir/images/NAME.jpg, data_dir/masks/NAME.png   two folders
data_dir/NAME.jpg, data_dir/NAME.png                or side by side,
data_dir/NAME.jpg, data_dir/NAME_mask.png           perhaps with a suffix, also in sub-folders
data_dir/train/..., data_dir/val/...                both parts, each in one of these forms,
data_dir/images/train/..., data_dir/masks/train/... or below the folders of images and masks
data_dir/train.txt, data_dir/val.txt                or lists of names without ending, perhaps in
                                                    ImageSets/Segmentation

The parts have the names that `tf_frame_vision.reading.splits` knows. A name is a path below the
folder of images; the folder of masks has the same sub-folders.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import Mode, option
from tf_frame_deeplab.inputs.classes import find_classes
from tf_frame_deeplab.inputs.drawn_data import INPUTS
from tf_frame_deeplab.inputs.mask_file import (
    DamagedPairError,
    Facts,
    Pair,
    check_pixels,
    examine,
    mask_values,
)
from tf_frame_deeplab.inputs.parts import FormOptions, find_parts
from tf_frame_deeplab.inputs.segmented_images import (
    COMPARED_MASKS,
    SegmentedImageOptions,
    SegmentedImages,
)
from tf_frame_deeplab.inputs.semantic_input import count_pixels
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, nothing_held_out
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.folders import HeldOutOptions, existing_folder
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.scan import Problem, scan
from tf_frame_vision.reading.splits import check_one_choice

_WHAT_TO_DO = (
    "Give --input.data_dir a folder with classes.txt, a folder images, and a folder masks with a"
    " PNG of the same name for each image"
)
# Pixels of images that are decoded before a run starts; of further images the header is read. All
# masks are decoded.
_CHECKED_PIXELS = 200e6
_VERSION = 2


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, FormOptions, SegmentedImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with classes.txt, images and masks; must be given")


class SegmentationFolder(SegmentedImages):
    """Images and masks of a folder; masks are grey values, palettes or colours."""

    Params: ClassVar[type] = Params
    # Of images that were looked at before the run starts.
    _decoded_pixels = 0

    def find(self) -> None:
        params = self.params
        check_one_choice(params, "eval_list")
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        with naming_look_alikes(params.data_dir, INPUTS, (look_alikes.MASKS,)):
            self.classes = find_classes(folder, params.classes, ignore_label=params.ignore_label)
            parts = find_parts(folder, params, eval_split=params.eval_split)
        self.class_colours = self.classes.red_green_blue
        self.parts, self._part_notes = parts.splits, parts.notes
        training, evaluation = parts.training, parts.evaluation
        absent = nothing_held_out(params, folder, ", or write val.txt")
        evaluated = self._split(evaluation) if evaluation else absent
        self.use(self.classes.names, self._split(training), evaluated)

    def notes(self) -> Sequence[str]:
        """Names unused parts."""
        return (*super().notes(), *self._part_notes)

    def content(self, split: Split) -> SplitContent:
        pairs, facts = split.content
        counts = [fact.counts for fact in facts]
        return SplitContent(
            **count_pixels(counts, self.class_names, self.params.ignore_label),
            sizes=[(fact.height, fact.width) for fact in facts],
            root=Path(self.params.data_dir).expanduser(),
            files=[str(pair.image) for pair in pairs],
            sources=[str(pair.mask) for pair in pairs],
        )

    def some_masks(self, content: SplitContent) -> Iterable[Hashable]:
        examined = list(zip(*self.splits[Mode.TRAIN].content, strict=True))
        for pair, facts in examined[:: -(-len(examined) // COMPARED_MASKS)]:
            mask = mask_values(pair.mask, facts)
            yield mask.shape, mask.tobytes()

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_deeplab.inputs.mask_examples import pair_examples

        pairs, facts = split.content
        return pair_examples(pairs, facts, self.classes.colours, order, self.params)

    def _split(self, pairs: Sequence[Pair]) -> Split:
        """Checks pairs; damaged pairs end the run, or are left out with `skip_corrupt`."""
        params, root = self.params, Path(self.params.data_dir).expanduser()
        by_mask = {root / path_below(root, pair.mask): pair for pair in pairs}
        results = scan(
            root,
            [path_below(root, pair.mask) for pair in pairs],
            lambda mask: self._examine(by_mask[mask]),
            kind="masks",
            options=[_VERSION, repr(self.classes), params.ignore_label, params.max_pixels],
            partners=[path_below(root, pair.image) for pair in pairs],
        )
        usable, facts, damaged = [], [], []
        for pair, result in zip(pairs, results, strict=True):
            if isinstance(result, Problem):
                damaged.append(_damage(pair, result.reason))
            else:
                usable.append(pair)
                height, width, kind, bits, as_grey, turn, counts = result
                grey = bytes.fromhex(as_grey)
                facts.append(Facts(height, width, kind, bits, grey, turn, dict(counts)))
        check_damage(damaged, skip_corrupt=params.skip_corrupt)
        return Split(len(usable), (usable, facts), damaged)

    def _examine(self, pair: Pair) -> Any:
        """Returns the values of `Facts` in a form that JSON can hold, or a `Problem`."""
        try:
            facts = examine(pair, max_pixels=self.params.max_pixels)
            self._decoded_pixels += facts.height * facts.width
            counts = check_pixels(
                pair,
                facts,
                self.classes,
                self.params.ignore_label,
                with_image=self._decoded_pixels <= _CHECKED_PIXELS,
            )
        except DamagedPairError as error:
            return Problem(error.args[0])
        size = facts.height, facts.width
        grey = facts.as_grey.hex()
        return *size, facts.kind, facts.bits, grey, facts.turn, [*counts.items()]


def _damage(pair: Pair, reason: str) -> Damage:
    if isinstance(reason, Damage):
        return reason
    return Damage(str(pair.mask if pair.image.exists() else pair.image), reason)
