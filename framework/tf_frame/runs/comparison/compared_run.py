"""`ComparedRun`: all that the folder of a run tells a comparison."""

from __future__ import annotations

import dataclasses
import functools
import os
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.errors import ConfigError, DataError
from tf_frame.run_folders import RESULT_FILE, runs_hint
from tf_frame.runs.records.evaluations import Evaluation, read_figures
from tf_frame.runs.records.options import all_options
from tf_frame.runs.records.record import DAMAGED, RunRecord, is_run, read_record
from tf_frame.side_files import as_object, read_side_file
from tf_frame.text import short

_EVALUATION = "eval"
_MODES = ("max", "min")


@dataclasses.dataclass(frozen=True)
class ComparedRun:
    """A run in a comparison.

    Attributes:
      label: `A` for the first run, `B` for the second one.
      record: state, step, main metric and options.
      options: option name -> value, of all options.
      losses: the figures of its log intervals, in their order.
      evaluations: its evaluations, in their order.
      result: `result.json`; empty without one.
      faults: files that cannot be read, a line each.
    """

    label: str
    record: RunRecord
    options: Mapping[str, str]
    losses: Sequence[Evaluation]
    evaluations: Sequence[Evaluation]
    result: Mapping[str, Any]
    faults: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The folder as the user gave it."""
        return self.record.folder

    @functools.cached_property
    def _by_step(self) -> Mapping[int, Mapping[str, float]]:
        return {evaluation.step: evaluation.metrics for evaluation in self.evaluations}

    def metrics_at(self, step: int | None) -> Mapping[str, float]:
        """Returns the metrics of an evaluated step; None: of the last one; empty without."""
        if step is None:
            return self.evaluations[-1].metrics if self.evaluations else {}
        return self._by_step.get(step, {})

    def best_mode(self, metric: str) -> str | None:
        """Returns `--best_mode` if the run kept its best checkpoints by a metric; else None."""
        by_metric = self.options.get("best_metric") == metric
        keeps = by_metric and self.options.get("keep_best", "0") != "0"
        mode = self.options.get("best_mode")
        return mode if keeps and mode in _MODES else None

    def pictures(self) -> dict[str, str]:
        """Returns name -> path of the pictures of the last evaluation."""
        paths = file_system.files_in(os.path.join(self.record.folder, _EVALUATION))
        return {os.path.basename(p): p for p in sorted(paths) if p.endswith(".png")}


def read_runs(folders: Sequence[str], is_there: Callable[[int], bool]) -> list[ComparedRun]:
    """Reads the runs in folders.

    Args:
      folders: the folders, each of one run.
      is_there: returns whether a process of this machine runs.

    Raises:
      ConfigError: a folder is not that of a run, is remote, or is given twice.
      DataError: a run is damaged.
    """
    real = [os.path.realpath(folder) for folder in folders]
    for number, folder in enumerate(folders):
        if file_system.is_remote(folder):
            raise ConfigError(f"{short(folder)}: runs are compared in folders of this machine")
        if real[number] in real[:number]:
            raise ConfigError(f"{short(folder)} is given twice")
        if not is_run(folder):
            raise ConfigError(f"{short(folder)} is not the folder of a run{runs_hint(folder)}")
    return [_read(folder, _label(number), is_there) for number, folder in enumerate(folders)]


def _label(number: int) -> str:
    """Returns A to Z, then A1 to Z1, and so on."""
    again, letter = divmod(number, len(string.ascii_uppercase))
    return string.ascii_uppercase[letter] + (str(again) if again else "")


def _read(folder: str, label: str, is_there: Callable[[int], bool]) -> ComparedRun:
    record = read_record(folder, is_there)
    if record.state == DAMAGED:
        raise DataError(record.fault)
    losses, evaluations = read_figures(folder)
    result, faults = {}, []
    try:
        result = read_side_file(os.path.join(folder, RESULT_FILE), as_object) or {}
    except DataError as error:
        faults.append(str(error))
    options = all_options(record.blocks)
    return ComparedRun(label, record, options, losses, evaluations, result, faults)
