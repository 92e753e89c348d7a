"""`BestExporter`: exports the model whenever an evaluation is better than all before.

The best model of a training is served, and not a later one that overfits. The file `.best.json`
lists the exports in its folder, the best one last:

    {"exports": [{"export": "1763692800", "metrics": {"loss": 0.5, "global_step": 20}}]}
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import check_takes
from tf_frame.estimator.exporters.exporter import SavedModelExporter, remove_exports
from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader
from tf_frame.runs.evaluation.results import numbers
from tf_frame.runs.export.staging import list_exports
from tf_frame.side_files import read_or_set_aside

_LOG = logging.getLogger("tf_frame")
# Hidden from scripts that take the last name in the folder as the newest export.
_FILE = ".best.json"


def loss_smaller(
    best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
) -> bool:
    """Returns whether the loss has become smaller; every number is smaller than NaN.

    Args:
      best_eval_result: metric -> value of the best evaluation.
      current_eval_result: metric -> value of the current evaluation.

    Raises:
      ValueError: a result has no loss.
    """
    best, current = _loss("best", best_eval_result), _loss("current", current_eval_result)
    return best > current or (math.isnan(best) and not math.isnan(current))


def _loss(which: str, result: Mapping[str, Any]) -> float:
    if not result or "loss" not in result:
        raise ValueError(
            f"{which}_eval_result cannot be empty or no loss is found in it. It has: "
            f"{_names(result)}"
        )
    return float(result["loss"])


def _names(result: Mapping[str, Any] | None) -> str:
    return ", ".join(sorted(result or {})) or "nothing"


class BestExporter(SavedModelExporter):
    """Exports a checkpoint that is better than all checkpoints evaluated before.

    Evaluations of earlier runs count: their results are read from event files and, for exported
    checkpoints, from `.best.json`. The first checkpoint is always exported.

    Args:
      name: name of the folder below `MODEL_DIR/export`.
      serving_input_receiver_fn: function that returns a `ServingInputReceiver`.
      event_file_pattern: pattern of the evaluations' event files, below the model's
        folder; None reads none.
      compare_fn: takes `best_eval_result` and `current_eval_result`, metric ->
        value each; returns whether the current one is better. Default: its loss
        is smaller.
      assets_extra: path below `assets.extra` -> file to copy there; None: no files.
      as_text: whether the graph is written as text.
      exports_to_keep: number of best exports to keep; None for all.

    Raises:
      ValueError: `compare_fn` has wrong arguments, or `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        check_takes("compare_fn", compare_fn, required=["best_eval_result", "current_eval_result"])
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._exports_to_keep = exports_to_keep
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._model_dir: str | None = None
        self._best: Mapping[str, Any] | None = None
        self._has_exported = False

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        self._check_comparable(eval_result)
        kept = KeptExports(export_path)
        if self._model_dir != estimator.model_dir:
            self._model_dir = estimator.model_dir
            earlier = _earlier_results(self._model_dir, self._event_file_pattern, eval_result)
            self._best = self._find_best([*earlier, *kept.results()])
            self._has_exported = bool(list_exports(export_path))
        if self._has_exported and not self._is_better(eval_result):
            return None
        _LOG.info("Performing best model export.")
        path = self._write(estimator, export_path, checkpoint_path)
        if self._is_better(eval_result):
            self._best = eval_result
        self._has_exported = True
        kept.add(path, eval_result)
        if self._exports_to_keep is not None:
            remove_exports(export_path, kept.worst_first()[: -self._exports_to_keep])
        return path

    def _is_better(self, result: Mapping[str, Any]) -> bool:
        return self._best is None or self._compare(self._best, result)

    def _compare(self, best: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
        return bool(self._compare_fn(best_eval_result=best, current_eval_result=current))

    def _check_comparable(self, result: Mapping[str, Any]) -> None:
        try:
            self._compare(result, result)
        except KeyError as error:
            raise ConfigError(
                f"the compare_fn of the exporter {self.name} reads the metric {error}, which the "
                f"evaluation does not have; it has: {_names(result)}"
            ) from error

    def _find_best(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Returns the best result of earlier runs; ignores results that lack a metric."""
        best: Mapping[str, Any] | None = None
        for result in results:
            try:
                better = self._compare(best or result, result)
            except (KeyError, ValueError) as error:
                _LOG.warning("an earlier evaluation cannot be compared: %s", error)
                continue
            best = result if best is None or better else best
        return best


def _earlier_results(
    model_dir: str, pattern: str | None, current: Mapping[str, Any]
) -> Sequence[Mapping[str, float]]:
    """Returns the results of earlier evaluations from event files, without the current step.

    All event files are read in the folders of the files that match the pattern.
    """
    if not pattern:
        return []
    files = tf.io.gfile.glob(os.path.join(model_dir, pattern))
    folders = sorted({os.path.dirname(file) for file in files})
    step = current.get("global_step")
    return [
        metrics
        for folder in folders
        for at, metrics in EvalMetricsReader(folder).read().items()
        if at != step
    ]


class KeptExports:
    """The exports in a folder and their evaluation results.

    Each export is better than all exports before it, so the order is by quality.

    Args:
      export_path: the folder of the exporter; it need not exist.
    """

    def __init__(self, export_path: str) -> None:
        self._folder = export_path
        self._file = os.path.join(export_path, _FILE)
        self._entries = self._read()

    def results(self) -> Sequence[Mapping[str, float]]:
        """Returns metric -> value of each export with a result."""
        return [entry["metrics"] for entry in self._entries]

    def worst_first(self) -> Sequence[str]:
        """Returns the names of the exports in the folder, the best one last.

        Exports without a result come first, ordered by age.
        """
        names = list_exports(self._folder)
        rated = [entry["export"] for entry in self._entries if entry["export"] in names]
        return [*(name for name in names if name not in rated), *rated]

    def add(self, path: Any, metrics: Mapping[str, Any]) -> None:
        """Adds a new export, which is the best one.

        Args:
          path: path of the export, text or bytes.
          metrics: the evaluation result; values that are not numbers are left out.
        """
        new = os.path.basename(tf.compat.as_str_any(path).rstrip("/"))
        # The name of an export that was removed in this second may be used again.
        existing = [name for name in list_exports(self._folder) if name != new]
        self._entries = [entry for entry in self._entries if entry["export"] in existing]
        self._entries.append({"export": new, "metrics": numbers(metrics)})
        if tf.io.gfile.isdir(self._folder):
            write_file(self._file, json.dumps({"exports": self._entries}, indent=2) + "\n")

    def _read(self) -> list[dict[str, Any]]:
        return read_or_set_aside(self._file, _entries) or []


def _entries(content: Any) -> list[dict[str, Any]]:
    return [
        {"export": str(entry["export"]), "metrics": numbers(dict(entry["metrics"]))}
        for entry in content["exports"]
    ]
