"""The input `voc_xml`: images, and an XML file of each in PASCAL VOC's form.

data_dir/JPEGImages/NAME.jpg         or images/
data_dir/Annotations/NAME.xml        or annotations/
data_dir/ImageSets/Main/train.txt    names to train on, a line each, and val.txt; may be missing
data_dir/train/NAME.jpg, NAME.xml    or side by side, perhaps in train and valid: Roboflow
data_dir/classes.txt                 the classes, a line each; without it all that occur, sorted

Form: http://host.robots.ox.ac.uk/pascal/VOC/voc2012/devkit_doc.pdf; pixels are counted from 1
there, and xmax and ymax lie within the box. Names may have folders.
"""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import read_xml
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotation_files import (
    AnnotatedFile,
    files_by_stem,
    find_files,
    make_content,
    part_folders,
    read_files,
    read_list,
)
from tf_frame_detection.inputs.annotations import FolderContent, Size
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.record_fields import RecordError, parse_numbers
from tf_frame_vision.reading.folders import first_existing
from tf_frame_vision.reading.inside import name_inside
from tf_frame_vision.reading.scan import Problem
from tf_frame_vision.reading.splits import Splits, find_splits, is_whole, split_kind

_WHAT_TO_DO = "Give --input.data_dir the folder with JPEGImages and Annotations"
_LISTS = "ImageSets/Main"
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


def read_voc(root: Path, params: Any) -> FolderContent:
    """Reads the XML files of a folder.

    Raises:
      DataError: a folder or a list is missing, or the file of the classes is wrong.
    """
    left_out: Counter[str] = Counter()
    parts, splits = _read_parts(root, params, left_out)
    return make_content(root, parts, params, record_word="object", splits=splits, left_out=left_out)


class VocXml(AnnotatedFolder):
    """Images, and XML files in PASCAL VOC's form."""

    Params: ClassVar[type] = Params
    matches_classes_by = "classes"
    formats = (look_alikes.VOC,)
    what_to_do = _WHAT_TO_DO
    read_folder = staticmethod(read_voc)


def _read_parts(
    root: Path, params: Any, left_out: Counter[str]
) -> tuple[list[list[AnnotatedFile]], Splits]:
    """Returns the files to train on, and perhaps those to evaluate, and the names of the parts."""

    def read(pair: tuple[Path, Path], names: Sequence[str] | None = None) -> list[AnnotatedFile]:
        return read_files(root, pair, ".xml", names, _examine, left_out, kind="voc")

    folders = _find_folders(root)
    if isinstance(folders, str):
        splits = find_splits(root, eval_split=params.eval_split)
        pairs = [_find_folders(part) for part in (splits.train, splits.eval) if part]
        if not splits.train or any(isinstance(pair, str) for pair in pairs):
            raise DataError(f"{short(root)} has no folder {folders}. {_WHAT_TO_DO}.")
        return [read(pair) for pair in pairs if not isinstance(pair, str)], splits
    lists, splits = _find_lists(root, params)
    if lists == (None, None):
        parts, splits = part_folders(folders, params.eval_split)
        return [read(pair) for pair in parts], splits
    images, xml = find_files(folders, ".xml")
    stems = sorted({*images, *xml})
    training, evaluation = _listed(root, params, lists, _unused_lists(root, splits), stems)
    files = read(folders, [*training, *(evaluation or ())])
    count = len(training)
    further = [] if evaluation is None else [files[count:]]
    return [files[:count], *further], splits


def _find_folders(folder: Path) -> tuple[Path, Path] | str:
    """Returns the folders of images and XML files, or the name of the folder that is missing."""
    images = first_existing(folder, ("JPEGImages", "images"))
    xml = first_existing(folder, ("Annotations", "annotations"))
    if images and xml:
        return images, xml
    if not images and not xml and files_by_stem(folder, (".xml",), with_folders=False):
        return folder, folder
    return "Annotations" if images else "JPEGImages"


def _find_lists(root: Path, params: Any) -> tuple[tuple[Path | None, Path | None], Splits]:
    """Returns the lists to train on and to evaluate, by the options or by their names."""
    sets, splits = root / _LISTS, Splits()
    if sets.is_dir():
        splits = find_splits(sets, eval_split=params.eval_split, ending=".txt")
    training, evaluation = (
        Path(given).expanduser() if given else usual
        for given, usual in (
            (params.train_list, splits.train),
            (params.eval_list, splits.eval),
        )
    )
    return (training, evaluation), splits


def _unused_lists(root: Path, splits: Splits) -> list[Path]:
    """Returns the lists of parts that are not used, such as `test.txt`."""
    return [root / _LISTS / name for name in splits.unused if split_kind(Path(name).stem)]


def _listed(
    root: Path,
    params: Any,
    lists: tuple[Path | None, Path | None],
    unused: Sequence[Path],
    names: Sequence[str],
) -> tuple[Sequence[str], Sequence[str] | None]:
    """Returns names to train on and to evaluate; None: nothing says which to evaluate.

    With one list, the second part is the remainder, without the names in unused lists; CVAT's
    list `default` has all names.
    """
    training, evaluation = (
        None if path is None else _read_inside(root, path, names, params) for path in lists
    )
    used = {*(training or evaluation or ())}
    used.update(name for path in unused for name in read_list(path, names))
    remainder = [name for name in names if name not in used]
    if training is None:
        return remainder, evaluation
    if evaluation is None and lists[0] and is_whole(lists[0].stem) and not params.train_list:
        return training, None
    return training, evaluation or remainder or None


def _read_inside(root: Path, path: Path, names: Sequence[str], params: Any) -> list[str]:
    """Returns the names in a list; a missing one must not be a file elsewhere."""
    listed = read_list(path, names)
    for name in set(listed) - set(names):
        name_inside(root, name, base="", allow_outside=params.allow_outside, source=path)
    return listed


def _examine(path: Path) -> Any:
    """Returns size and rows; see `annotation_files`."""
    tree = read_xml(path)
    if tree.tag != "annotation":
        return Problem(f"it has no annotation, but {brief(tree.tag)}")
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


def _size(tree: ElementTree.Element) -> Size | None:
    element = tree.find("size")
    # Python converts no thousands of digits.
    words = [] if element is None else [_text(element, name)[:18] for name in ("height", "width")]
    # Some programs write 0 for a size that they do not know.
    if not all(word.isdecimal() and int(word) for word in words) or not words:
        return None
    return int(words[0]), int(words[1])


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
