"""Lists labelled pictures in a folder that has a subfolder for each class.

It is the source of the converter `image_folder`, for pictures of one's own.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_classification.convert.pictures import Picture, Source
from tf_frame_vision.convert.folders import check_folder, content, fingerprint
from tf_frame_vision.example_input import IMAGE_SUFFIXES


def read_folder(root: Path, *, seed: int) -> Source:
    """Lists the pictures, shuffled, so that every shard has some of each class.

    Classes are numbered in the order of their names.

    Args:
      root: the folder; what begins with a dot is left out.
      seed: of the shuffling.

    Raises:
      DataError: there is no such folder, it has no folders of classes, or one has no image.
    """
    check_folder(root, "the class folders")
    folders = sorted(path for path in root.iterdir() if path.is_dir() and _visible(path))
    if not folders:
        raise DataError(
            f"{root} has no folders: it must hold one folder for each class, with its images"
        )
    paths = [(path, label) for label, folder in enumerate(folders) for path in _images(folder)]
    digest = fingerprint(root, [path for path, _ in paths])
    random.Random(seed).shuffle(paths)
    pictures = [
        Picture(path.relative_to(root).as_posix(), label, functools.partial(content, path))
        for path, label in paths
    ]
    return Source([folder.name for folder in folders], pictures, digest)


def _visible(path: Path) -> bool:
    return not path.name.startswith(".")


def _images(folder: Path) -> list[Path]:
    images = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in IMAGE_SUFFIXES and _visible(path)
    )
    if not images:
        raise DataError(
            f"the class folder {folder} holds no image ({', '.join(IMAGE_SUFFIXES)}): add some or "
            "remove the folder"
        )
    return images
