"""Reads the TensorBoard event files of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read_events(folder: str | Path) -> list[Any]:
    """Returns every `Event` in the event files of a folder, file by file in order of their names.

    The writers of `FileWriterCache` are closed first, so that the files are complete. Files in
    sub-folders are not read.
    """
    import tensorflow.compat.v1 as tf

    tf.summary.FileWriterCache.clear()
    files = sorted(Path(folder).glob("events.out.tfevents.*"))
    return [event for file in files for event in tf.train.summary_iterator(str(file))]


def read_scalars(folder: str | Path) -> list[tuple[int, str, float]]:
    """Returns step, tag and value of every scalar, in the order of `read_events`.

    Args:
      folder: the folder with the event files.
    """
    return [
        (event.step, value.tag, value.simple_value)
        for event in read_events(folder)
        for value in event.summary.value
        if value.HasField("simple_value")
    ]
