"""The content of a split, for the `DataReport` of an image input.

An input returns a `SplitContent` of each split (`ExampleInput.content`). Does not import
TensorFlow.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import DataReport, DataWarning, Mode, SplitReport
from tf_frame_vision.data_faults import copy_warnings, dark_warnings, spread
from tf_frame_vision.reading.copies import find_copies
from tf_frame_vision.reading.damage import count_reasons
from tf_frame_vision.reading.folders import visible
from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.splits import EVAL, TRAIN, split_kind

Size = tuple[int, int]
# Headers of a split that are read if nothing else knows the sizes.
_HEADERS = 200
# The report names the evaluation examples up to this number.
_NAMED = 1000
# Files and folders that describe the data, and are no data.
_DESCRIBING = {
    *("classes.txt", "labels.txt", "data.yaml", "obj.names", "obj.data", "label_map.pbtxt"),
    *("labelmap.txt", "class_names.txt", "_classes.csv", "notes.json"),
    "ImageSets",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class SplitContent:
    """The content of a split, as far as the constructor of the input knows it.

    Attributes:
      counts: class name -> number of units; None: not counted.
      counted: number of examples that were counted; None: all.
      without_label: number of units that do not count.
      sizes: height and width of every image; empty: headers of some files are read.
      root: the data folder.
      files: paths of the image files, or names of records that were read.
      digests: of the image of each record; empty: the files are compared.
      pictures: encoded images of some records, to look at; empty: files are decoded.
      sources: paths of masks and annotations, which are used, too.
      labels: the label of each file, to find a file with two labels; empty: not compared.
      remarks: sentences about the split.
    """

    counts: Mapping[str, int] | None = None
    counted: int | None = None
    without_label: int = 0
    sizes: Sequence[Size] = ()
    root: Path | None = None
    files: Sequence[str] = ()
    digests: Sequence[str] = ()
    pictures: Sequence[bytes] = ()
    sources: Sequence[str] = ()
    labels: Sequence[Hashable] = ()
    remarks: Sequence[str] = ()


def make_report(
    contents: Mapping[Mode, SplitContent],
    *,
    examples: Mapping[Mode, int | None],
    unit: str,
    class_names: Sequence[str],
    damaged: Mapping[Mode, Sequence[str]] | None = None,
    unused: Sequence[str] = (),
    warnings: Sequence[DataWarning] = (),
    image_range: Sequence[float] = (),
) -> DataReport:
    """Returns the report of a data set.

    Args:
      contents: of training and evaluation.
      examples: number of examples of each.
      unit: see `DataReport`.
      class_names: the classes.
      damaged: parts of each that are left out, a line each; see `reading.damage`.
      unused: folders and files that nothing uses.
      warnings: faults that only the input sees.
      image_range: the option `--input.image_range`.
    """
    places = _places(contents)
    splits = {
        mode: SplitReport(
            examples=examples[mode],
            counts=content.counts,
            counted=content.counted,
            without_label=content.without_label,
            sizes=_size_range(content.sizes if len(content.sizes) else _some_sizes(content)),
            left_out=count_reasons((damaged or {}).get(mode, ())),
            place=places[mode],
            names=_names(content) if mode == Mode.EVAL else (),
        )
        for mode, content in contents.items()
    }
    remarks = [
        remark for content in contents.values() for remark in (*content.remarks, *_limits(content))
    ]
    train, held_out = (contents.get(mode, SplitContent()) for mode in (Mode.TRAIN, Mode.EVAL))
    groups = _find_copies(train, held_out)
    if groups is None:
        remarks.append("copies are not looked for among so many files")
    labels = dict(zip(train.files, train.labels, strict=False))
    return DataReport(
        splits=splits,
        unit=unit,
        class_names=tuple(class_names),
        unused=tuple(unused),
        remarks=tuple(dict.fromkeys(remarks)),
        warnings=(
            *warnings,
            *copy_warnings(groups or [], {*train.files}, {*held_out.files}, labels),
            *dark_warnings(train.files, train.pictures, image_range),
        ),
    )


def _names(content: SplitContent) -> Sequence[str]:
    """Returns the files below the data folder, unless they are many; records are no files."""
    above = os.path.join(content.root or "", "")
    if len(content.files) > _NAMED or not all(name.startswith(above) for name in content.files):
        return ()
    return [name[len(above) :] for name in content.files]


def _places(contents: Mapping[Mode, SplitContent]) -> dict[Mode, str]:
    """Returns the folder of each split: one below the data folder if no other split shares it."""
    roots = {mode: str(content.root or "") for mode, content in contents.items()}
    folders = [
        _common_folder(roots[mode], content.files).split(os.sep)
        for mode, content in contents.items()
    ]
    pairs = enumerate(zip(*folders, strict=False), start=1)
    depth = next((number for number, names in pairs if len({*names}) == len(folders) > 1), 0)
    if not depth or len({*roots.values()}) > 1:
        return roots
    return {mode: os.sep.join(f[:depth]) for mode, f in zip(contents, folders, strict=True)}


def _common_folder(root: str, files: Sequence[str]) -> str:
    """Returns the folder around all files; the data folder for records, which are no files."""
    if not (files and all(name.startswith(os.path.join(root, "")) for name in files)):
        return root
    # All paths between the first and the last one begin as these two do.
    return os.path.commonpath([os.path.dirname(min(files)), os.path.dirname(max(files))])


def find_unused(params: Any, contents: Iterable[SplitContent]) -> list[str]:
    """Returns folders and files of the data folder with nothing that a split or an option uses.

    Files that describe all parts, such as classes, are left out.

    Args:
      params: the options of the input.
      contents: of the splits.
    """
    values = [value for value in vars(params).values() if isinstance(value, str)]
    if not getattr(params, "data_dir", ""):
        return []
    folder = Path(params.data_dir).expanduser()
    prefix = os.path.join(folder, "")
    paths = [path for content in contents for path in (*content.files, *content.sources)]
    used = {path[len(prefix) :].split(os.sep)[0] for path in paths if path.startswith(prefix)}
    names = [*visible(folder, folders=True), *visible(folder, folders=False)] if used else []
    used |= {os.path.join(prefix, value)[len(prefix) :].split(os.sep)[0] for value in values}
    return [
        name
        for name in names
        if name not in used and name not in _DESCRIBING and not _is_list_of_a_part(name)
    ]


def _is_list_of_a_part(name: str) -> bool:
    stem, ending = os.path.splitext(name)
    return ending.lower() == ".txt" and split_kind(stem) in (TRAIN, EVAL)


def _size_range(sizes: Sequence[Size]) -> Sequence[Size]:
    """Returns the smallest, the median and the largest size, by area."""
    if not len(sizes):
        return ()
    ordered = sorted(
        ((int(h), int(w)) for h, w in sizes), key=lambda size: (size[0] * size[1], size)
    )
    return ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1]


def _some_sizes(content: SplitContent) -> Sequence[Size]:
    """Reads the headers of some files, evenly over the split."""
    sizes = []
    for name in spread(content.files, _HEADERS):
        try:
            header = read_header(name)
        except ImageError:
            continue  # Reading the examples names it.
        sizes.append((header.height, header.width))
    return sizes


def _limits(content: SplitContent) -> Iterator[str]:
    if len(content.files) > _HEADERS and not len(content.sizes):
        yield f"sizes come from {_HEADERS} images of a split"


def _find_copies(train: SplitContent, held_out: SplitContent) -> Sequence[Sequence[str]] | None:
    """Returns groups of equal images; None if there are too many files to compare."""
    if not train.digests:
        paths = sorted({*train.files, *held_out.files})
        return find_copies(_common_root(train, held_out), paths)
    groups: dict[str, list[str]] = {}
    for content in (train, held_out):
        for name, digest in zip(content.files, content.digests, strict=True):
            groups.setdefault(digest, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def _common_root(train: SplitContent, held_out: SplitContent) -> Path:
    """Returns the folder above both splits, or else the folder of the training data."""
    roots = [Path(content.root or ".") for content in (train, held_out)]
    are_siblings = roots[0] != roots[1] and roots[0].parent == roots[1].parent
    return roots[0].parent if held_out.files and are_siblings else roots[0]


def count_classes(labels: Sequence[int], class_names: Sequence[str]) -> dict[str, int]:
    """Returns class name -> number of labels."""
    import numpy as np

    counts = np.bincount(np.asarray(labels, np.int64), minlength=len(class_names))
    return dict(zip(class_names, counts.tolist(), strict=False))
