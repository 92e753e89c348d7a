"""The content of a split for the `DataReport` of an image input, and faults of its images.

An input returns a `SplitContent` of each split (`ExampleInput.content`); the report, and the
warnings about copies, dark images and boxes, follow from it. Does not import TensorFlow.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import DataReport, DataWarning, Mode, SplitReport
from tf_frame_vision.reading import copies
from tf_frame_vision.reading.damage import count_reasons
from tf_frame_vision.reading.folders import visible
from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.pixels import load_pixels

Size = tuple[int, int]
# Headers of a split that are read if nothing else knows the sizes.
_HEADERS = 200
# Training images that are decoded, and the largest of them: a few show whether all are dark.
_DECODED, _DECODED_PIXELS = 6, 4_000_000
# A picture with no greater value looks black.
_DARK = 20
# Share of training images that may be copies of others.
_FEW_COPIES = 0.05
_NAMED = 2
# Files and folders that describe the data, and are no data.
_DESCRIBING = {
    *("classes.txt", "labels.txt", "data.yaml", "obj.names", "obj.data", "label_map.pbtxt"),
    *("labelmap.txt", "class_names.txt", "_classes.csv", "notes.json"),
    *("train.txt", "val.txt", "valid.txt", "ImageSets"),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class SplitContent:
    """The content of a split, as far as the constructor of the input knows it.

    Attributes:
      counts: class name -> number of units; None: not counted.
      without_label: number of units that do not count.
      sizes: height and width of every image; empty: headers of some files are read.
      root: the data folder.
      files: paths of the image files; empty: there are none, such as of records.
      sources: paths of masks and annotations, which are used, too.
      labels: the label of each file, to find a file with two labels; empty: not compared.
      remarks: sentences about the split.
    """

    counts: Mapping[str, int] | None = None
    without_label: int = 0
    sizes: Sequence[Size] = ()
    root: Path | None = None
    files: Sequence[str] = ()
    sources: Sequence[str] = ()
    labels: Sequence[Hashable] = ()
    remarks: Sequence[str] = ()


def make_report(
    contents: Mapping[Mode, SplitContent],
    *,
    examples: Mapping[Mode, int | None],
    damaged: Mapping[Mode, Sequence[str]],
    unit: str,
    class_names: Sequence[str],
    unused: Sequence[str] = (),
    warnings: Sequence[DataWarning] = (),
    image_range: Sequence[float] = (),
) -> DataReport:
    """Returns the report of a data set.

    Args:
      contents: of training and evaluation.
      examples: number of examples of each.
      damaged: parts of each that are left out, a line each.
      unit: see `DataReport`.
      class_names: the classes.
      unused: folders and files that nothing uses.
      warnings: faults that only the input sees.
      image_range: the option `--input.image_range`.
    """
    splits = {
        mode: SplitReport(
            examples=examples[mode],
            counts=content.counts,
            without_label=content.without_label,
            sizes=_size_range(content.sizes if len(content.sizes) else _some_sizes(content)),
            left_out=count_reasons(damaged[mode]),
            place=str(content.root or ""),
        )
        for mode, content in contents.items()
    }
    remarks = [
        remark for content in contents.values() for remark in (*content.remarks, *_limits(content))
    ]
    groups = _find_copies(contents)
    if groups is None:
        remarks.append("copies are not looked for among so many files")
    return DataReport(
        splits=splits,
        unit=unit,
        class_names=tuple(class_names),
        unused=tuple(unused),
        remarks=tuple(dict.fromkeys(remarks)),
        warnings=(
            *warnings,
            *_copy_warnings(contents, groups or []),
            *_dark_warnings(contents, image_range),
        ),
    )


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
    return [name for name in names if name not in used and name not in _DESCRIBING]


def _size_range(sizes: Sequence[Size]) -> Sequence[Size]:
    """Returns the smallest, the median and the largest size, by area."""
    if not len(sizes):
        return ()
    ordered = sorted(
        ((int(h), int(w)) for h, w in sizes), key=lambda size: (size[0] * size[1], size)
    )
    return ordered[0], statistics.median_low(ordered), ordered[-1]


def _some_sizes(content: SplitContent) -> Sequence[Size]:
    """Reads the headers of some files, evenly over the split."""
    sizes = []
    for name in _spread(content.files, _HEADERS):
        try:
            header = read_header(name)
        except ImageError:
            continue  # Reading the examples names it.
        sizes.append((header.height, header.width))
    return sizes


def _limits(content: SplitContent) -> Iterator[str]:
    if len(content.files) > _HEADERS and not len(content.sizes):
        yield f"sizes come from {_HEADERS} images of a split"
    if not content.files and content.counts is None:
        yield "classes of records are not counted, and copies not looked for"


def _spread(names: Sequence[str], count: int) -> Sequence[str]:
    """Returns at most so many names, evenly over all."""
    return names[:: max(-(-len(names) // count), 1)]


def _both(contents: Mapping[Mode, SplitContent]) -> tuple[SplitContent, SplitContent]:
    """Returns training and evaluation, empty if there is none."""
    return contents.get(Mode.TRAIN, SplitContent()), contents.get(Mode.EVAL, SplitContent())


def _find_copies(contents: Mapping[Mode, SplitContent]) -> Sequence[Sequence[str]] | None:
    """Returns groups of equal files; None if there are too many files to compare."""
    train, held_out = _both(contents)
    paths = sorted({*train.files, *held_out.files})
    return copies.find_copies(_common_root(train, held_out), paths)


def _copy_warnings(
    contents: Mapping[Mode, SplitContent], groups: Sequence[Sequence[str]]
) -> Iterator[DataWarning]:
    """Yields warnings about the same image in both splits, twice in one, or with two labels."""
    train, held_out = _both(contents)
    trained, evaluated = {*train.files}, {*held_out.files}
    # A file of both splits is a copy of itself.
    groups = [*groups, *([path, path] for path in sorted(trained & evaluated))]
    in_both = [group for group in groups if trained & {*group} and evaluated & {*group}]
    if in_both:
        yield DataWarning(
            "shared_images",
            f"the training data and the evaluation data share {_count(len(in_both), 'image')}, "
            f"such as {_example(in_both[0], trained, evaluated)}, so that figures are too good",
            "remove them from one of the two",
        )
    within = [[*dict.fromkeys(path for path in group if path in trained)] for group in groups]
    yield from _warnings_within(train, [group for group in within if len(group) > 1])


def _warnings_within(train: SplitContent, groups: Sequence[Sequence[str]]) -> Iterator[DataWarning]:
    """Yields warnings about copies among the training images."""
    labels = dict(zip(train.files, train.labels, strict=False))
    unlike = [group for group in groups if len({labels.get(path) for path in group}) > 1]
    if unlike:
        yield DataWarning(
            "contradicting_labels",
            f"{_count(len(unlike), 'training image')} with copies under another label, such as "
            f"{' and '.join(unlike[0][:_NAMED])}",
            "remove the wrong ones",
        )
    alike = [group for group in groups if group not in unlike]
    surplus = sum(len(group) - 1 for group in alike)
    if surplus > _FEW_COPIES * len(train.files):
        yield DataWarning(
            "duplicates",
            f"{surplus} of {len(train.files)} training images are copies of others, such as "
            f"{' and '.join(alike[0][:_NAMED])}",
            "remove the copies",
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _common_root(train: SplitContent, held_out: SplitContent) -> Path:
    """Returns the folder above both splits, or else the folder of the training data."""
    roots = [Path(content.root or ".") for content in (train, held_out)]
    are_siblings = roots[0] != roots[1] and roots[0].parent == roots[1].parent
    return roots[0].parent if held_out.files and are_siblings else roots[0]


def _example(group: Sequence[str], trained: set[str], evaluated: set[str]) -> str:
    first = next(path for path in group if path in trained)
    copy = next(path for path in group if path in evaluated)
    return first if first == copy else f"{first} and {copy}"


def _dark_warnings(
    contents: Mapping[Mode, SplitContent], image_range: Sequence[float]
) -> Iterator[DataWarning]:
    """Yields a warning if some training images, and so perhaps all, are black or blank."""
    train = contents.get(Mode.TRAIN, SplitContent())
    names = _spread(train.files, _DECODED)
    ranges = [values for name in names if (values := _value_range(name, image_range))]
    if not ranges:
        return
    brightest = max(most for _, most in ranges)
    if brightest <= _DARK:
        yield DataWarning(
            "dark_images",
            f"the brightest value of {len(ranges)} training images that were looked at is "
            f"{brightest} of 255, so that they are black",
            "check the images; 12 bits in 16 need --input.image_range 0,4095",
        )
    elif len(ranges) > 1 and all(least == most for least, most in ranges):
        yield DataWarning(
            "blank_images",
            f"{len(ranges)} training images that were looked at have one value in all pixels, "
            f"such as {names[0]}",
            "check the images",
        )


def _value_range(path: str, image_range: Sequence[float]) -> tuple[int, int] | None:
    """Returns the least and the greatest value; None if the image is large, or cannot be read."""
    try:
        header = read_header(path)
        if header.height * header.width > _DECODED_PIXELS:
            return None
        pixels = load_pixels(path, image_range=image_range)
    except ImageError:
        return None  # Reading the examples names it.
    return int(pixels.min()), int(pixels.max())


def count_classes(labels: Sequence[int], class_names: Sequence[str]) -> dict[str, int]:
    """Returns class name -> number of labels."""
    import numpy as np

    counts = np.bincount(np.asarray(labels, np.int64), minlength=len(class_names))
    return dict(zip(class_names, counts.tolist(), strict=False))
