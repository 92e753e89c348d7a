"""Objects of photographs as annotation files describe them, and checks of them.

Faults are reported at the start, a line each that names the file and the record.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import text_file
from tf_frame.errors import DataError
from tf_frame.text_file import normal_name, split_words
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.reading.class_names import find_repeated
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.folders import visible
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.scan import MISSING, scan

Size = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Marked:
    """One object.

    Attributes:
      box: upper, left, lower and right edge, in pixels.
      number: its class, from 0 on.
      record: its place in the file, such as `line 3`, for errors.
      ignored: whether it is neither right nor wrong.
      crowd: whether it stands for many objects; such an object is ignored as well.
      corners: row and column of four corners in order around, in pixels; empty: those of `box`.
    """

    box: tuple[float, float, float, float]
    number: int
    record: str
    ignored: bool = False
    crowd: bool = False
    corners: tuple[float, ...] = ()

    @property
    def four_corners(self) -> tuple[float, ...]:
        """Row and column of four corners."""
        upper, left, lower, right = self.box
        return self.corners or (upper, left, upper, right, lower, right, lower, left)


@dataclasses.dataclass(frozen=True)
class Photograph:
    """An image file and its objects.

    Attributes:
      path: the image.
      source: the file, and perhaps the record in it, that describes it; for errors.
      marks: its objects; it may have none.
      size: height and width that the annotation says; None: it says none.
      image_id: its number in the annotation file; None: it has none.
      problems: objects that cannot be used, such as `line 3: its class ...`. One of them takes the
        whole image out: what it shows would become background.
      in_shares: whether the marks are shares of height and width of the shown image; checks turn
        them into pixels.
    """

    path: Path
    source: str
    marks: Sequence[Marked]
    size: Size | None = None
    image_id: int | None = None
    problems: Sequence[str] = ()
    in_shares: bool = False


Part = tuple[Sequence[Photograph], Sequence[str]]


@dataclasses.dataclass(frozen=True)
class FolderContent:
    """Content of a folder of images and of files that describe them.

    Attributes:
      names: the classes.
      training: photographs to train on, and lines about images that cannot be used.
      evaluation: those to evaluate; None: nothing says which.
      notes: remarks for people, a line each.
    """

    names: Sequence[str]
    training: Part
    evaluation: Part | None = None
    notes: Sequence[str] = ()


class RecordError(Exception):
    """A record that cannot be used; the message says what is wrong with it."""


def corner_box(corners: Sequence[float]) -> tuple[float, float, float, float]:
    """Returns the upright box around corners: row, column, row, column ..."""
    rows, columns = corners[::2], corners[1::2]
    return min(rows), min(columns), max(rows), max(columns)


def parse_numbers(words: Sequence[object], count: int, what: str) -> list[float]:
    """Converts the numbers of a record.

    Raises:
      RecordError: there are more or fewer than `count`, or one is none or not finite.
    """
    if not isinstance(words, (list, tuple)) or len(words) != count:
        seen = len(words) if isinstance(words, (list, tuple)) else repr(words)
        raise RecordError(f"{what} has {seen} instead of {count} numbers")
    try:
        values = [float(word) for word in words]  # type: ignore[arg-type]
    except OverflowError:
        raise RecordError(f"{what} has a number that is too large") from None
    except (TypeError, ValueError):
        raise RecordError(f"{what} {list(words)} has something that is no number") from None
    if not all(map(math.isfinite, values)):
        raise RecordError(f"{what} {values} has a number that is not finite")
    return values


def number_classes(names: Iterable[str]) -> Mapping[str, int]:
    """Returns the number of each class, by the normal form of its name."""
    return {normal_name(name): number for number, name in enumerate(names)}


def class_number(classes: Mapping[str, int], name: str) -> int:
    """Returns the number of a class.

    Args:
      classes: as `number_classes` returns them.
      name: its name.

    Raises:
      RecordError: there is no such class.
    """
    number = classes.get(normal_name(name))
    if number is None:
        some = ", ".join(list(classes)[:5])
        raise RecordError(f"its class {name!r} is none of {some}{' ...' * (len(classes) > 5)}")
    return number


def read_names(path: Path, existing: Collection[str]) -> list[str]:
    """Returns the name in each line of a list.

    Args:
      path: the list.
      existing: names that there are. A line that is none of them is its first word, because
        lists of a class in PASCAL VOC have a number after the name.

    Raises:
      DataError: the list cannot be read, is empty, or has a name twice.
    """
    by_form = {normal_name(name): name for name in existing}
    lines = text_file.read_names(path)
    names = [by_form.get(normal_name(line)) or split_words(line)[0] for line in lines]
    if not names:
        raise DataError(f"the list {path} is empty; write a name in each line")
    twice = find_repeated(names)
    if twice is not None:
        raise DataError(f"the list {path} names {twice} twice; remove one line")
    return names


def files_by_stem(folder: Path, suffixes: Sequence[str]) -> dict[str, Path]:
    """Returns the file of each name without ending; names are in their normal form.

    Args:
      folder: the folder of the files; hidden files do not count.
      suffixes: endings in lower case; files may have them in upper case.

    Raises:
      DataError: two files have one name.
    """
    files: dict[str, Path] = {}
    for name in visible(folder, folders=False):
        stem, suffix = os.path.splitext(name)
        if suffix.lower() in suffixes:
            stem = normal_name(stem)
            if stem in files:
                raise DataError(f"{folder} has both {files[stem].name} and {name}; remove one")
            files[stem] = folder / name
    return files


@dataclasses.dataclass(frozen=True)
class AnnotatedFile:
    """An image and the content of the file that describes it.

    Attributes:
      image: the image; of a description without an image, where it would be.
      file: the description.
      content: result of its examination; a `Problem` if it cannot be used or is missing.
    """

    image: Path
    file: Path
    content: Any


def read_files(
    root: Path,
    folders: tuple[Path, Path],
    suffix: str,
    names: Sequence[str] | None,
    examine: Callable[[Path], Any],
    *,
    kind: str,
) -> list[AnnotatedFile]:
    """Reads the files that describe images of the same names, unless an earlier start has done so.

    Args:
      root: the data folder.
      folders: of the images, and of the descriptions.
      suffix: ending of the descriptions, such as `.xml`.
      names: names without ending; None: all that there are.
      examine, kind: see `scan`.
    """
    images, files = files_by_stem(folders[0], IMAGE_SUFFIXES), files_by_stem(folders[1], (suffix,))
    stems = sorted({*images, *files}) if names is None else [normal_name(name) for name in names]
    pairs = [
        (images.get(s, folders[0] / f"{s}.jpg"), files.get(s, folders[1] / f"{s}{suffix}"))
        for s in stems
    ]
    paths = [path_below(root, file) for _, file in pairs]
    results = scan(root, paths, examine, kind=kind)
    return [
        AnnotatedFile(image, file, result)
        for (image, file), result in zip(pairs, results, strict=True)
    ]


def damage_of_file(annotated: AnnotatedFile) -> Damage:
    """Returns the line of an image whose description cannot be used or is missing."""
    if annotated.content.reason == MISSING:
        return Damage.of_file(
            annotated.image,
            f"it has no annotation: write {annotated.file}, without an object if the image shows "
            "none",
            "it has no annotation",
        )
    return Damage.of_file(annotated.file, annotated.content.reason)
