"""What every exporter offers, and the way to one export."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any


class Exporter(abc.ABC):
    """Decides after an evaluation whether the model is exported, and exports it."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Name of the folder below `MODEL_DIR/export`; no two exporters share it."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Called after an evaluation.

        Args:
          estimator: the `Estimator`.
          export_path: the folder of this exporter, `MODEL_DIR/export/NAME`.
          checkpoint_path: what was evaluated.
          eval_result: what `Estimator.evaluate` returned.
          is_the_final_export: whether training has reached `TrainSpec.max_steps`;
            never true where that is None.

        Returns:
          Path of the export; None if there is none this time.
        """


class SavedModelExporter(Exporter):
    """An exporter that writes what `Estimator.export_saved_model` does.

    Args:
      name: of the folder.
      serving_input_receiver_fn, assets_extra, as_text: see `Estimator.export_saved_model`.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        return self._name

    def _write(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        """Exports a checkpoint; returns the path of the export."""
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
