"""A model that is evaluated or predicts before it was trained, with the values of a warm start."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tf_frame.estimator.warm_start.settings import apply_warm_start, with_warm_start
from tf_frame.plugin import Mode, ModelOutput


class WarmStartedModel:
    """Builds another model, with a scaffold that gives it the values of a checkpoint.

    Args:
      model: the model plugin.
      warm_start_from: a path or `WarmStartSettings`.
      report: takes the report.
    """

    def __init__(self, model: Any, warm_start_from: Any, report: Callable[[str], None]) -> None:
        self._model = model
        self._warm_start_from = warm_start_from
        self._say = report

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; see `tf_frame.Model.build`."""
        output: ModelOutput = self._model.build(features, labels, mode)
        initial = apply_warm_start(self._warm_start_from, None, report=self._say)
        return dataclasses.replace(output, scaffold=with_warm_start(output.scaffold, initial))
