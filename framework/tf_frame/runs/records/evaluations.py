"""Evaluations of a run, from its `metrics.csv`."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tf_frame import file_system
from tf_frame.config.metric_directions import higher_is_better
from tf_frame.errors import ConfigError
from tf_frame.text_file import read_lines

_TABLE = "metrics.csv"
# Columns that are no metrics of an evaluation.
_NO_METRICS = ("step", "split", "time", "learning_rate", "steps_per_sec")
_EVALUATION = ",eval,"


class Evaluation(NamedTuple):
    """The metrics of a global step, or the losses of a log interval, in the order of the table."""

    step: int
    metrics: dict[str, float]


def read_evaluations(folder: str) -> list[Evaluation]:
    """Returns the evaluations of the run in a folder, in their order; rows cut off are left out.

    Raises:
      DataError: the file is no text.
    """
    # Most rows are of log intervals, and are not worth a reader of CSV.
    return [step for split, step in _read_rows(folder, _EVALUATION) if split == "eval"]


def read_figures(folder: str) -> tuple[list[Evaluation], list[Evaluation]]:
    """Returns the figures of the log intervals, and the evaluations, of the run in a folder.

    Raises:
      DataError: the file is no text.
    """
    rows = list(_read_rows(folder, ""))
    train, evaluations = (
        [step for split, step in rows if split == name] for name in ("train", "eval")
    )
    return train, evaluations


def _read_rows(folder: str, part: str) -> Iterator[tuple[str, Evaluation]]:
    """Yields split and figures of the rows that have a text."""
    path = os.path.join(folder, _TABLE)
    if not file_system.exists(path):
        return
    header, *lines = read_lines(path) or [""]
    for row in csv.DictReader([header, *(line for line in lines if part in line)]):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            values = {k: float(v) for k, v in row.items() if v and k not in _NO_METRICS}
            if values:
                yield row["split"], Evaluation(int(row["step"]), values)


def best_evaluation(
    evaluations: Sequence[Evaluation], metric: str, mode: str | None
) -> Evaluation | None:
    """Returns the evaluation with the best value of a metric.

    Args:
      evaluations: those of a run.
      metric: name of the metric.
      mode: `max` or `min`; None: the name of the metric decides.

    Returns:
      None if no evaluation has the metric, or its name says no direction.
    """
    with contextlib.suppress(ConfigError):
        sign = 1 if higher_is_better(metric, mode, "") else -1
        having = [each for each in evaluations if metric in each.metrics]
        return max(having, key=lambda each: (sign * each.metrics[metric], each.step), default=None)
    return None
