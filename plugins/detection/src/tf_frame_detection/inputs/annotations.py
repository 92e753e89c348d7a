"""Objects of photographs as annotation files describe them, and checks of them.

Faults are reported at the start, a line each that names the file and the record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tf_frame.text import brief
from tf_frame.text_file import normal_name
from tf_frame_vision.formats.record_fields import RecordError
from tf_frame_vision.reading.splits import Splits

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
      ids: the data set's own ids of the classes; empty: they are 1, 2 ...
      rotated: whether the objects have four corners.
      splits: the parts by their names.
    """

    names: Sequence[str]
    training: Part
    evaluation: Part | None = None
    notes: Sequence[str] = ()
    ids: Sequence[int] = ()
    rotated: bool = False
    splits: Splits = dataclasses.field(default_factory=Splits)


def corner_box(corners: Sequence[float]) -> tuple[float, float, float, float]:
    """Returns the upright box around corners: row, column, row, column ..."""
    rows, columns = corners[::2], corners[1::2]
    return min(rows), min(columns), max(rows), max(columns)


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
        raise RecordError(f"its class {brief(name)} is none of {some}{' ...' * (len(classes) > 5)}")
    return number
