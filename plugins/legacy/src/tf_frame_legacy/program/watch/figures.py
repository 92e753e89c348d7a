"""Writes the scalars of all summaries to `metrics.csv` beside the event file."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.metrics_log import EVAL, TRAIN, MetricsCsv


class WatchedSummaries:
    """A `metrics.csv` for each folder with an event file."""

    def __init__(self) -> None:
        self._files: dict[str, MetricsCsv] = {}
        self._add = tf.summary.FileWriter.add_summary

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Watches all writers of summaries within the block."""
        watched = self

        @functools.wraps(self._add)
        def add_summary(writer: Any, summary: Any, global_step: Any = None) -> None:
            watched._add(writer, summary, global_step)
            values = scalars(summary)
            if values and global_step is not None:
                watched._write(writer.get_logdir(), int(global_step), values)

        tf.summary.FileWriter.add_summary = add_summary
        try:
            yield
        finally:
            del tf.summary.FileWriter.add_summary

    def _write(self, folder: Any, step: int, values: Mapping[str, float]) -> None:
        folder = os.fspath(folder)
        path = os.path.join(folder, "metrics.csv")
        if path not in self._files:
            self._files[path] = MetricsCsv(path, last_step=step - 1)
        split = EVAL if "eval" in os.path.basename(folder.rstrip("/")) else TRAIN
        self._files[path].write(split, step, values)


def scalars(summary: Any) -> dict[str, float]:
    """Returns the scalars of a `tf.Summary`, or of its bytes, by tag."""
    if isinstance(summary, bytes):
        summary = tf.Summary.FromString(summary)
    values = {}
    for value in summary.value:
        if value.HasField("simple_value"):
            values[value.tag] = value.simple_value
        elif value.HasField("tensor") and not value.tensor.tensor_shape.dim:
            number = tf.make_ndarray(value.tensor)
            if number.dtype.kind in "fiu":
                values[value.tag] = float(number)
    return values
