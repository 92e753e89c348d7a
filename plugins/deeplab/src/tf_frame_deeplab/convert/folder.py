"""Source of the converter `segmentation_folder`: what the input of this name reads."""

from __future__ import annotations

from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_deeplab.convert.source import MaskedPicture, Meaning, Source, numbers
from tf_frame_deeplab.inputs.classes import Classes, read_classes
from tf_frame_deeplab.inputs.parts import FormOptions, Parts, find_parts


def read_folder(root: Path, options: FormOptions, *, ignore_label: int) -> Source:
    """Lists the pictures of `train`, and those of `val` if there are any.

    Args:
      root: the folder.
      options: its form.
      ignore_label: value of pixels that do not count, in the masks and in the records.

    Raises:
      DataError: a file is missing, or classes.txt is wrong.
    """
    classes, parts = _found(root, options, ignore_label)
    meaning = Meaning(numbers(len(classes.names), ignore_label), classes.colours)
    pictures = {
        split: [MaskedPicture(pair, meaning) for pair in pairs]
        for split, pairs in zip(("train", "val"), parts, strict=True)
        if pairs
    }
    return Source(pictures, classes.lines, ignore_label)


def _found(root: Path, options: FormOptions, ignore_label: int) -> tuple[Classes, Parts]:
    path = Path(options.classes).expanduser() if options.classes else root / "classes.txt"
    try:
        return read_classes(path, ignore_label=ignore_label), find_parts(root, options)
    except DataError as error:
        # The options of an input have this prefix; those of a converter have none.
        raise DataError(str(error).replace("--input.", "--")) from None
