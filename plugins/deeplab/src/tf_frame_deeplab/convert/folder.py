"""Source of the converter `segmentation_folder`: the folders that the input of this name reads."""

from __future__ import annotations

import sys
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import printable
from tf_frame_deeplab.convert.source import MaskedPicture, Meaning, Source, numbers
from tf_frame_deeplab.inputs.classes import find_classes
from tf_frame_deeplab.inputs.parts import FormOptions, find_parts
from tf_frame_vision.convert.options import without_prefix


def read_folder(root: Path, options: FormOptions, *, ignore_label: int) -> Source:
    """Lists the pictures of `train`, and of `val` and `test` if there are any.

    Args:
      root: the folder.
      options: the form of the folder.
      ignore_label: value of pixels that do not count, in the masks and in the records.

    Raises:
      DataError: a file is missing, or the file of the classes is wrong.
    """
    try:
        classes = find_classes(root, options.classes, ignore_label=ignore_label)
        parts = find_parts(root, options)
        pairs = {"train": parts.training, "val": parts.evaluation}
        for note in (*parts.splits.notes(uses_test=True), *parts.notes):
            print(printable(note), file=sys.stderr, flush=True)
        if parts.splits.test is not None:
            pairs["test"] = find_parts(root, options, eval_split="test").evaluation
    except DataError as error:
        raise without_prefix(error) from None
    meaning = Meaning(numbers(len(classes.names), ignore_label), classes.colours)
    pictures = {
        split: [MaskedPicture(pair, meaning) for pair in part]
        for split, part in pairs.items()
        if part
    }
    return Source(pictures, classes.lines, ignore_label)
