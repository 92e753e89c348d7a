"""`Exporter`, the interface of exporters; `FinalExporter` and `LatestExporter`.

`train_and_evaluate` calls exporters after each evaluation: a model can be served during or after
the training without another command.
"""

from __future__ import annotations

import abc
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.runs.export.staging import list_exports

_LOG = logging.getLogger("tf_frame")


class Exporter(abc.ABC):
    """Decides after an evaluation about an export, and exports the model."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Name of the folder below `MODEL_DIR/export`; unique among the exporters."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports a checkpoint, or not; called after the evaluation.

        Args:
          estimator: the `Estimator` that was evaluated.
          export_path: the folder of this exporter, `MODEL_DIR/export/NAME`.
          checkpoint_path: path prefix of the checkpoint that was evaluated.
          eval_result: result of `Estimator.evaluate`.
          is_the_final_export: whether training has reached `TrainSpec.max_steps`.

        Returns:
          Path of the export; None if nothing was exported.
        """


class SavedModelExporter(Exporter):
    """An exporter that calls `Estimator.export_saved_model`.

    Args:
      name: name of the folder below `MODEL_DIR/export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      assets_extra: path below `assets.extra` -> file to copy there.
      as_text: write the graph as text.
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
        """Exports a checkpoint and returns the path of the export."""
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


class FinalExporter(SavedModelExporter):
    """Exports the last checkpoint after training has reached `TrainSpec.max_steps`.

    Args:
      name: name of the folder below `MODEL_DIR/export`.
      serving_input_receiver_fn: function that returns a `ServingInputReceiver`.
      assets_extra: path below `assets.extra` -> file to copy there; None: no files.
      as_text: whether the graph is written as text.
    """

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        if not is_the_final_export:
            return None
        _LOG.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(SavedModelExporter):
    """Exports every checkpoint that is evaluated.

    Args:
      name: name of the folder below `MODEL_DIR/export`.
      serving_input_receiver_fn: function that returns a `ServingInputReceiver`.
      assets_extra: path below `assets.extra` -> file to copy there; None: no files.
      as_text: whether the graph is written as text.
      exports_to_keep: number of newest exports to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = exports_to_keep
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        path = self._write(estimator, export_path, checkpoint_path)
        if self._exports_to_keep is not None:
            remove_exports(export_path, list_exports(export_path)[: -self._exports_to_keep])
        return path


def remove_exports(export_path: str, names: Iterable[str]) -> None:
    """Removes exports of a folder; logs the names of missing ones."""
    for name in names:
        path = os.path.join(export_path, name)
        try:
            tf.io.gfile.rmtree(path)
        except tf.errors.NotFoundError as error:
            _LOG.warning("Can not delete %s recursively: %s", path, error)
