"""Exports whenever the model is better than ever before, and keeps the best exports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.estimator.exporters.best_results import KeptExports, earlier_results
from tf_frame.estimator.exporters.compare import check_compare_fn, loss_smaller, names_of
from tf_frame.estimator.exporters.exporter import SavedModelExporter
from tf_frame.estimator.exporters.garbage import exports_in, remove_exports

_LOG = logging.getLogger("tf_frame")


class BestExporter(SavedModelExporter):
    """Exports a checkpoint that is better than all that were evaluated before.

    What earlier runs of the folder have evaluated counts: it is read from the
    event files of evaluations, and what was exported from `.best.json` beside the
    exports. Where there is no export at all, the first checkpoint is exported
    anyhow.

    Args:
      name: of the folder below `MODEL_DIR/export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      event_file_pattern: the event files of the evaluations, below the model's
        folder; None reads none.
      compare_fn: takes `best_eval_result` and `current_eval_result`, metric ->
        value each; returns whether the current one is better. Default: its loss
        is smaller.
      assets_extra: path below `assets.extra` -> file to be copied there.
      as_text: whether the graph is written as text.
      exports_to_keep: how many of the best exports stay; None for all.

    Raises:
      ValueError: an argument is wrong.
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
        check_compare_fn(compare_fn)
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
                f"the compare_fn of the exporter {self.name} asks for the metric {error}, which "
                f"the evaluation does not have; there are: {names_of(result)}"
            ) from error

    def _best_before(
        self, kept: KeptExports, current: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The best result of earlier runs; those that lack what is compared are passed over."""
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
