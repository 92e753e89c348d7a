"""`BestExporter`: an export whenever an evaluation is better than all before."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import check_takes
from tf_frame.estimator.exporters.best_results import KeptExports, earlier_results
from tf_frame.estimator.exporters.exporter import (
    SavedModelExporter,
    exports_in,
    remove_exports,
)

_LOG = logging.getLogger("tf_frame")


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

    Evaluations of earlier runs count: their results are read from event files and,
    for checkpoints that were exported, from `.best.json` beside the exports. The
    first checkpoint is exported in any case if there is no export yet.

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: see `SavedModelExporter`.
      event_file_pattern: pattern of the evaluations' event files, below the model's
        folder; None reads none.
      compare_fn: takes `best_eval_result` and `current_eval_result`, metric ->
        value each; returns whether the current one is better. Default: its loss
        is smaller.
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
            self._best = self._best_before(kept, eval_result)
            self._has_exported = bool(exports_in(export_path))
        if self._has_exported and not self._is_better(eval_result):
            return None
        _LOG.info("Performing best model export.")
        path = self._write(estimator, export_path, checkpoint_path)
        if self._is_better(eval_result):
            self._best = eval_result
        self._has_exported = True
        kept.add(path, eval_result)
        if self._exports_to_keep is not None:
            remove_exports(export_path, kept.in_order()[: -self._exports_to_keep])
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

    def _best_before(
        self, kept: KeptExports, current: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Returns the best result of earlier runs, without results that lack a metric."""
        best: Mapping[str, Any] | None = None
        events = earlier_results(self._model_dir, self._event_file_pattern, current)
        for result in [*events, *kept.results()]:
            try:
                better = self._compare(best or result, result)
            except (KeyError, ValueError) as error:
                _LOG.warning("an earlier evaluation cannot be compared: %s", error)
                continue
            best = result if best is None or better else best
        return best
