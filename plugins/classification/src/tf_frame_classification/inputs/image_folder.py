"""The input `image_folder`: a folder of images for each class.

For images of your own: nothing is converted, and the names of the folders are the classes.

data_dir/CLASS/*.jpg                                a part of them is held out for evaluation
data_dir/CLASS/*.jpg, eval_dir/CLASS/*.jpg          another folder is evaluated
data_dir/train/CLASS/*.jpg, data_dir/val/CLASS/*    the folder has both parts; see `splits`
data_dir/train/CLASS/*.jpg                          a part of them is held out

A class folder may have sub-folders: their images are of this class, too.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import DataWarning, option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_classification.inputs.class_folders import (
    ClassFiles,
    check_classes,
    find_parts,
    list_class_files,
    parts_in_classes,
)
from tf_frame_classification.inputs.labelled_images import LabelledImageOptions, LabelledImages
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, nothing_held_out
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.folders import (
    ALL_EVALUATED,
    HeldOutOptions,
    divide_names,
    existing_folder,
    left_out_notes,
)
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.scan import Problem
from tf_frame_vision.reading.splits import check_held_out, check_one_choice

_WHAT_TO_DO = "Give --input.data_dir a folder with a folder of images for each class"


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, LabelledImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with a folder of images for each class; must be given")
    eval_dir: str = option("", "folder likewise, to evaluate; empty: see eval_fraction")
    eval_fraction: float = option(
        0.1,
        "part of each class that is held out for evaluation, where no folder is there for it; "
        f"0: none, nothing is evaluated; {ALL_EVALUATED}",
        min=0.0,
        max=1.0,
    )


class ImageFolder(LabelledImages):
    """Images in one folder for each class; labels follow the sorted names of the folders.

    The images held out follow from their names alone, so that they stay the same.
    """

    Params: ClassVar[type] = Params
    matches_classes_by = "eval_dir"
    _left_out: Counter[str] = Counter()

    def find(self) -> None:
        params = self.params
        check_one_choice(params, "eval_dir")
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        self._left_out = Counter()
        self.parts = find_parts(
            folder, eval_split=params.eval_split, any_eval=bool(params.eval_dir)
        )
        if params.eval_dir:
            eval_dir = existing_folder(
                params.eval_dir, "--input.eval_dir", "It is a folder like data_dir"
            )
            self.parts = dataclasses.replace(self.parts, eval=eval_dir)
        folder = self.parts.train or folder
        files = list_class_files(folder, self._left_out)
        training, eval_folder = files, self.parts.eval or folder
        if self.parts.eval is None:
            check_held_out(folder, params.eval_split)
            training, evaluated = _divide(files, params.eval_fraction)
        else:
            evaluated = list_class_files(eval_folder, self._left_out)
            check_classes(eval_folder, evaluated, folder, list(files))
        evaluation = nothing_held_out(params, folder, ", or give --input.eval_dir")
        if any(evaluated.values()):
            evaluated = {name: evaluated.get(name, ()) for name in files}
            evaluation = self._split(eval_folder, evaluated)
        self.use(list(files), self._split(folder, training), evaluation)

    def _split(self, folder: Path, files: ClassFiles) -> Split:
        """Returns the images of a folder, and those that cannot be used by their headers.

        Raises:
          DataError: there is one that cannot be used, and none may be left out.
        """
        names: list[str] = []
        labels: list[int] = []
        for label, images in enumerate(files.values()):
            names += images
            labels += [label] * len(images)
        headers = scan_headers(folder, names, max_pixels=self.params.max_pixels)
        damaged = [
            Damage(str(folder / name), header.reason)
            for name, header in zip(names, headers, strict=True)
            if isinstance(header, Problem)
        ]
        check_damage(damaged, skip_corrupt=self.params.skip_corrupt)
        if damaged:
            usable = [not isinstance(header, Problem) for header in headers]
            names = [*itertools.compress(names, usable)]
            labels = [*itertools.compress(labels, usable)]
        if not names:
            raise DataError(
                f"{short(folder)} has no image that can be used, such as for {damaged[0]}"
            )
        return Split(len(names), (str(folder), names, labels), damaged)

    def notes(self) -> Sequence[str]:
        """Names the parts that are not used, and files that are left out."""
        return [*super().notes(), *left_out_notes(self._left_out)]

    def content(self, split: Split) -> SplitContent:
        root, names, labels = split.content
        return SplitContent(
            counts=self.count_labels(labels),
            root=Path(root),
            files=[os.path.join(root, name) for name in names],
            labels=labels,
        )

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        classes = training.root
        return [
            *super().data_warnings(training),
            *(parts_in_classes(classes) if classes is not None else ()),
        ]

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import folder_examples

        root, names, labels = split.content
        return folder_examples(root, names, labels, order, self.params)


def _divide(files: ClassFiles, fraction: float) -> tuple[ClassFiles, ClassFiles]:
    """Returns training and evaluation files; a class of several files has one of each at least.

    A fraction of 0 holds out nothing.
    """
    divisions = {name: divide_names(images, fraction) for name, images in files.items()}
    training = {
        name: [image for image in images if image in divisions[name].training]
        for name, images in files.items()
    }
    evaluation = {name: sorted(division.evaluation) for name, division in divisions.items()}
    return training, evaluation
