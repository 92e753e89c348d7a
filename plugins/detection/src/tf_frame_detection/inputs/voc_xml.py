"""The input `voc_xml`: images, and an XML file of each in PASCAL VOC's form.

data_dir/JPEGImages/NAME.jpg         or images/
data_dir/Annotations/NAME.xml        or annotations/
data_dir/ImageSets/Main/train.txt    names to train on, a line each, and val.txt; may be missing
data_dir/train/NAME.jpg, NAME.xml    or side by side, perhaps in train and valid: Roboflow
data_dir/classes.txt                 the classes, a line each; without it all that occur, sorted

Form: http://host.robots.ox.ac.uk/pascal/VOC/voc2012/devkit_doc.pdf; pixels are counted from 1
there, and xmax and ymax lie within the box.
"""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import read_xml
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import (
    AnnotatedFile,
    FolderContent,
    Marked,
    Part,
    Photograph,
    RecordError,
    Size,
    class_number,
    damage_of_file,
    files_by_stem,
    number_classes,
    parse_numbers,
    read_files,
    read_names,
)
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import find_class_names
from tf_frame_vision.reading.folders import first_existing
from tf_frame_vision.reading.scan import Problem
from tf_frame_vision.reading.splits import Splits, find_splits

_WHAT_TO_DO = "Give --input.data_dir the folder with JPEGImages and Annotations"
_EDGES = ("ymin", "xmin", "ymax", "xmax")
# Length of the row of an object that cannot be used, and place of the rows in a result.
_FAULTY, _OBJECTS = 2, 1


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
        content = read_voc(
            self.existing(_WHAT_TO_DO),
            self.params,
            ignore_difficult=self.params.ignore_difficult,
            eval_split=self.params.eval_split,
        )
        self.remarks = content.notes
        self.use(content.names, content.training, content.evaluation)


def read_voc(
    folder: Path, options: VocFormOptions, *, ignore_difficult: bool, eval_split: str = "val"
) -> FolderContent:
    """Reads the XML files of a folder.

    Args:
      folder: the data folder.
      options: the files of the classes and of the names.
      ignore_difficult: whether difficult objects are neither right nor wrong.
      eval_split: the option `--input.eval_split`.

    Raises:
      DataError: a folder or a list is missing, or the file of the classes is wrong.
    """
    parts, notes = _read_parts(folder, options, eval_split)
    found = {
        row[1]
        for part in parts
        for annotated in part or ()
        if not isinstance(annotated.content, Problem)
        for row in annotated.content[_OBJECTS]
        if len(row) > _FAULTY and row[1]
    }
    classes = find_class_names(folder, options.classes, found)
    numbered = number_classes(classes)
    training, evaluation = (
        None if part is None else _make_part(part, numbered, ignore_difficult) for part in parts
    )
    return FolderContent(classes, training or ([], []), evaluation, notes)


def _read_parts(
    root: Path, options: VocFormOptions, eval_split: str
) -> tuple[tuple[list[AnnotatedFile], list[AnnotatedFile] | None], list[str]]:
    """Returns the files to train on and to evaluate, and remarks."""
    folders = _find_folders(root)
    if isinstance(folders, str):
        splits = find_splits(root, eval_split=eval_split)
        pairs = [_find_folders(part) for part in (splits.train, splits.eval) if part]
        if not splits.train or any(isinstance(pair, str) for pair in pairs):
            raise DataError(f"{root} has no folder {folders}. {_WHAT_TO_DO}.")
        parts = [
            read_files(root, pair, ".xml", None, _examine, kind="voc")
            for pair in pairs
            if not isinstance(pair, str)
        ]
        return (parts[0], parts[1] if splits.eval else None), splits.notes()
    stems = sorted(
        {*files_by_stem(folders[0], IMAGE_SUFFIXES), *files_by_stem(folders[1], (".xml",))}
    )
    training, evaluation, notes = _listed(root, options, stems, eval_split)
    names = [*training, *(evaluation or ())]
    files = read_files(root, folders, ".xml", names, _examine, kind="voc")
    count = len(training)
    return (files[:count], None if evaluation is None else files[count:]), notes


def _find_folders(folder: Path) -> tuple[Path, Path] | str:
    """Returns the folders of images and XML files, or the name of the folder that is missing."""
    images = first_existing(folder, ("JPEGImages", "images"))
    xml = first_existing(folder, ("Annotations", "annotations"))
    if images and xml:
        return images, xml
    if not images and not xml and files_by_stem(folder, (".xml",)):
        return folder, folder
    return "Annotations" if images else "JPEGImages"


def _listed(
    folder: Path, options: VocFormOptions, names: Sequence[str], eval_split: str
) -> tuple[Sequence[str], Sequence[str] | None, list[str]]:
    """Returns names to train on and to evaluate, None if there is no list, and remarks."""
    sets = folder / "ImageSets" / "Main"
    splits = Splits()
    if sets.is_dir():
        splits = find_splits(sets, eval_split=eval_split, ending=".txt")
    lists: list[Sequence[str] | None] = []
    for given, usual in ((options.train_list, splits.train), (options.eval_list, splits.eval)):
        path = Path(given).expanduser() if given else usual
        lists.append(read_names(path, names) if path else None)
    training, evaluation = lists
    if training is None:
        training = [name for name in names if name not in set(evaluation or ())]
    elif evaluation is None:
        evaluation = [name for name in names if name not in set(training)] or None
    return training, evaluation, splits.notes()


def _examine(path: Path) -> Any:
    """Returns the size, and a row for each object: number, class, difficult, 4 edges; or fault."""
    tree = read_xml(path)
    if tree.tag != "annotation":
        raise DataError(f"it has no annotation, but {tree.tag!r}")
    elements = enumerate(tree.iter("object"), 1)
    return _size(tree), [_examine_object(number, element) for number, element in elements]


def _examine_object(number: int, element: ElementTree.Element) -> list[Any]:
    box = element.find("bndbox")
    try:
        if box is None:
            raise RecordError(f"it has no bndbox{_other_shape(element)}")
        edges = [text for edge in _EDGES if (text := _text(box, edge))]
        upper, left, lower, right = parse_numbers(edges, 4, "its bndbox")
    except RecordError as error:
        return [number, str(error)]
    edges_from_0 = (upper - 1, left - 1, lower, right)
    return [number, _text(element, "name"), _text(element, "difficult") == "1", *edges_from_0]


def _other_shape(element: ElementTree.Element) -> str:
    """Returns a clause about a shape that an object has instead of a box."""
    shapes = [shape for shape in ("polygon", "robndbox") if element.find(shape) is not None]
    return (
        f", but a {shapes[0]}, which is not read; write the box around it as well" if shapes else ""
    )


def _make_part(
    part: Sequence[AnnotatedFile], classes: Mapping[str, int], ignore_difficult: bool
) -> Part:
    usable = [annotated for annotated in part if not isinstance(annotated.content, Problem)]
    damaged = [damage_of_file(each) for each in part if isinstance(each.content, Problem)]
    photographs = (_photograph(annotated, classes, ignore_difficult) for annotated in usable)
    return [*photographs], damaged


def _photograph(
    annotated: AnnotatedFile, classes: Mapping[str, int], ignore_difficult: bool
) -> Photograph:
    size, rows = annotated.content
    marks, problems = [], []
    for row in rows:
        record = f"object {row[0]}"
        try:
            if len(row) == _FAULTY:
                raise RecordError(row[1])
            _, name, difficult, *box = row
            number = class_number(classes, name)
            marks.append(Marked(tuple(box), number, record, difficult and ignore_difficult))
        except RecordError as error:
            problems.append(f"{record}: {error}")
    return Photograph(
        annotated.image,
        str(annotated.file),
        marks,
        (size[0], size[1]) if size else None,
        problems=problems,
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
