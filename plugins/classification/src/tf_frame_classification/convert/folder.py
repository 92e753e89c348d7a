"""Lists labelled pictures in a folder that has a subfolder for each class.

It is the source of the converter `image_folder`, for pictures of one's own.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from pathlib import Path

from tf_frame_classification.convert.pictures import Picture, Source
from tf_frame_classification.inputs.class_folders import (
    ClassFiles,
    check_classes,
    find_parts,
    list_class_files,
)
from tf_frame_vision.convert.folders import check_folder, content, examine_files


def read_parts(root: Path, *, seed: int) -> dict[str, Source]:
    """Lists the pictures of each part, as the input `image_folder` finds them.

    The pictures are shuffled, so that every shard has some of each class. Classes are numbered in
    the order of their names.

    Args:
      root: the folder.
      seed: of the shuffling.

    Returns:
      `train`, and `validation` and `test` if there are any; only `train` if the folders are the
      classes.

    Raises:
      DataError: there is no such folder, it has no folders of classes, or one has no image.
    """
    check_folder(root, "the class folders")
    parts = find_parts(root)
    training = parts.train or root
    files = list_class_files(training, Counter())
    sources = {"train": _source(training, files, files, seed)}
    for split, folder in (("validation", parts.eval), ("test", parts.test)):
        if folder is not None:
            part_files = list_class_files(folder, Counter())
            check_classes(folder, part_files, training, list(files))
            sources[split] = _source(folder, part_files, files, seed)
    return sources


def _source(root: Path, files: ClassFiles, classes: ClassFiles, seed: int) -> Source:
    """Returns the pictures of a part.

    Args:
      classes: the classes of all parts, in their order.
    """
    labels = {name: label for label, name in enumerate(classes)}
    names = [(image, labels[name]) for name, images in files.items() for image in images]
    described = examine_files(root, [root / name for name, _ in names])
    random.Random(seed).shuffle(names)
    pictures = [
        Picture(name, label, functools.partial(content, root / name)) for name, label in names
    ]
    return Source(list(classes), pictures, *described)
