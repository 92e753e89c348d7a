"""Names of photographs that a text file lists, and classes from a file or from all annotations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotations import read_class_names, read_text, repeated
from tf_frame_vision.example_input import IMAGE_SUFFIXES


def listed_names(path: Path) -> list[str]:
    """Returns the first word of each line of a file.

    Raises:
      DataError: it cannot be read, is empty, or lists a name twice.
    """
    names = [line.split()[0] for line in read_text(path).splitlines() if line.strip()]
    if not names:
        raise DataError(f"the list {path} is empty; write a name in each line")
    twice = repeated(names)
    if twice is not None:
        raise DataError(f"the list {path} names {twice} twice; remove one line")
    return names


def find_class_names(folder: Path, given: str, found: Iterable[str]) -> list[str]:
    """Returns the classes of a file or of a folder's classes.txt; without these all found, sorted.

    Raises:
      DataError: the file cannot be read, or no class was found.
    """
    path = Path(given).expanduser() if given else folder / "classes.txt"
    if given or path.exists():
        return read_class_names(path)
    names = sorted(set(found))
    if not names:
        raise DataError(f"no annotation in {folder} has a class")
    return names


def images_by_stem(folder: Path) -> dict[str, Path]:
    """Returns the image of each name without ending.

    Raises:
      DataError: two images have one name.
    """
    images: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith("."):
            if path.stem in images:
                raise DataError(
                    f"{folder} has both {images[path.stem].name} and {path.name}; remove one"
                )
            images[path.stem] = path
    return images


def image_named(images: dict[str, Path], folder: Path, stem: str) -> Path:
    """Returns the image of a name, or where a missing one would be."""
    return images.get(stem, folder / f"{stem}.jpg")
