"""Source of the converter `segmentation_folder`: the folders that the input of this name reads."""

from __future__ import annotations

from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_deeplab.convert.source import MaskedPicture, Meaning, Source, numbers
from tf_frame_deeplab.inputs.classes import Classes, read_classes
from tf_frame_deeplab.inputs.parts import FormOptions, Parts, find_parts


def read_folder(root: Path, options: FormOptions, *, ignore_label: int) -> Source:
    """Lists the pictures of `train`, and of `val` if it has any.

    Args:
      root: the folder.
      options: the form of the folder.
      ignore_label: value of pixels that do not count, in the masks and in the records.

    Raises:
      DataError: a file is missing, or classes.txt is wrong.
    """
    classes, parts = _read(root, options, ignore_label)
    meaning = Meaning(numbers(len(classes.names), ignore_label), classes.colours)
    pictures = {
        split: [MaskedPicture(pair, meaning) for pair in pairs]
        for split, pairs in zip(("train", "val"), parts, strict=True)
        if pairs
    }
    return Source(pictures, classes.lines, ignore_label)


def _read(root: Path, options: FormOptions, ignore_label: int) -> tuple[Classes, Parts]:
    path = Path(options.classes).expanduser() if options.classes else root / "classes.txt"
    try:
        return read_classes(path, ignore_label=ignore_label), find_parts(root, options)
    except DataError as error:
        # Options of an input have this prefix, options of a converter have none.
        raise DataError(str(error).replace("--input.", "--")) from None
