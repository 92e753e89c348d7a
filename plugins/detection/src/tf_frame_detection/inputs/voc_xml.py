"""The input `voc_xml`: images, and an XML file of each in PASCAL VOC's form.

data_dir/JPEGImages/NAME.jpg         or images/
data_dir/Annotations/NAME.xml        or annotations/
data_dir/ImageSets/Main/train.txt    names to train on, a line each, and val.txt; may be missing
data_dir/classes.txt                 the classes, a line each; without it all that occur, sorted

Form: http://host.robots.ox.ac.uk/pascal/VOC/voc2012/devkit_doc.pdf; pixels are counted from 1
there, and xmax and ymax lie within the box.
"""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import read_xml
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import (
    Marked,
    Photograph,
    RecordError,
    Size,
    class_number,
    find_image,
    images_by_stem,
    number_classes,
    parse_numbers,
    read_names,
)
from tf_frame_detection.inputs.photographs import Part
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import find_class_names
from tf_frame_vision.reading.folders import first_existing

_WHAT_TO_DO = "Give --input.data_dir the folder with JPEGImages and Annotations"
_EDGES = ("ymin", "xmin", "ymax", "xmax")


@dataclasses.dataclass(frozen=True)
class FormOptions:
    """Options that say what a folder of annotations looks like."""

    classes: str = option("", "file of the classes; empty: classes.txt, or all that occur")


@dataclasses.dataclass(frozen=True)
class VocFormOptions(FormOptions):
    """Options that say what a folder of XML files looks like."""

    train_list: str = option(
        "", "file of the names to train on; empty: ImageSets/Main/train.txt if it is there"
    )
    eval_list: str = option(
        "", "file of the names to evaluate; empty: ImageSets/Main/val.txt if it is there"
    )


@dataclasses.dataclass(frozen=True)
class Params(VocFormOptions, FolderOptions):
    """Options of the input."""

    ignore_difficult: bool = option(True, "whether difficult objects are neither right nor wrong")


class VocXml(AnnotatedFolder):
    """Images, and XML files in PASCAL VOC's form."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.VOC,)

    def find(self) -> None:
        names, training, evaluation = read_voc(
            self.existing(_WHAT_TO_DO),
            self.params,
            ignore_difficult=self.params.ignore_difficult,
        )
        self.use(names, training, evaluation)


def read_voc(
    folder: Path, options: VocFormOptions, *, ignore_difficult: bool
) -> tuple[Sequence[str], Part, Part | None]:
    """Reads the XML files of a folder.

    Returns:
      The classes, photographs to train on, and those to evaluate: None without a list of either.

    Raises:
      DataError: a folder or a list is missing, or the file of the classes is wrong.
    """
    images, xml = (
        first_existing(folder, names)
        for names in (("JPEGImages", "images"), ("Annotations", "annotations"))
    )
    if images is None or xml is None:
        missing = "JPEGImages" if images is None else "Annotations"
        raise DataError(f"{folder} has no folder {missing}. {_WHAT_TO_DO}.")
    by_stem = images_by_stem(images)
    parts = _listed(folder, options, sorted({*by_stem, *(path.stem for path in xml.glob("*.xml"))}))
    trees = {name: _tree(xml / f"{name}.xml") for part in parts if part for name in part}
    class_names = [
        text
        for tree in trees.values()
        if isinstance(tree, ElementTree.Element)
        for element in tree.iter("object")
        if (text := _text(element, "name"))
    ]
    classes = find_class_names(folder, options.classes, class_names)
    numbered = number_classes(classes)

    def part(names: Sequence[str]) -> Part:
        problems: list[str] = []
        photographs = []
        for name in names:
            tree, path = trees[name], find_image(by_stem, images, name)
            if isinstance(tree, str):
                problems.append(tree)
                continue
            source = str(xml / f"{name}.xml")
            photographs.append(_photograph(path, source, tree, numbered, ignore_difficult))
        return photographs, problems

    return classes, part(parts[0]), None if parts[1] is None else part(parts[1])


def _listed(
    folder: Path, options: VocFormOptions, names: Sequence[str]
) -> tuple[Sequence[str], Sequence[str] | None]:
    """Names to train on and to evaluate; None: there is no list."""
    lists: list[Sequence[str] | None] = []
    for given, usual in ((options.train_list, "train.txt"), (options.eval_list, "val.txt")):
        path = Path(given).expanduser() if given else folder / "ImageSets" / "Main" / usual
        lists.append(read_names(path, names) if given or path.exists() else None)
    training, evaluation = lists
    if training is None:
        training = [name for name in names if name not in set(evaluation or ())]
    elif evaluation is None:
        evaluation = [name for name in names if name not in set(training)] or None
    return training, evaluation


def _tree(path: Path) -> ElementTree.Element | str:
    """Returns the content of an XML file; or why it cannot be used."""
    try:
        tree = read_xml(path)
    except DataError as error:
        return str(error)
    return tree if tree.tag == "annotation" else f"{path} has no annotation, but {tree.tag!r}"


def _photograph(
    path: Path,
    source: str,
    tree: ElementTree.Element,
    classes: Mapping[str, int],
    ignore_difficult: bool,
) -> Photograph:
    marks, problems = [], []
    for number, element in enumerate(tree.iter("object"), 1):
        try:
            marks.append(_mark(element, f"object {number}", classes, ignore_difficult))
        except RecordError as error:
            problems.append(f"object {number}: {error}")
    return Photograph(path, source, marks, _size(tree), problems=problems)


def _mark(
    element: ElementTree.Element, record: str, classes: Mapping[str, int], ignore_difficult: bool
) -> Marked:
    box = element.find("bndbox")
    edges = [] if box is None else [text for edge in _EDGES if (text := _text(box, edge))]
    upper, left, lower, right = parse_numbers(edges, 4, "its bndbox")
    number = class_number(classes, _text(element, "name"))
    difficult = _text(element, "difficult") == "1"
    return Marked(
        (upper - 1, left - 1, lower, right), number, record, difficult and ignore_difficult
    )


def _size(tree: ElementTree.Element) -> Size | None:
    element = tree.find("size")
    words = [] if element is None else [_text(element, name) for name in ("height", "width")]
    # Some programs write 0 for a size that they do not know.
    if not all(word.isdecimal() and int(word) for word in words) or not words:
        return None
    return int(words[0]), int(words[1])


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
