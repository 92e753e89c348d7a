"""Evaluation of a setup's checkpoints, for `tf-frame run` and `tf-frame evaluate`."""

from __future__ import annotations

import os
from typing import Any

from tf_frame.estimator.evaluation.evaluator import Evaluated, Evaluator
from tf_frame.estimator.evaluation.results import write_evaluation
from tf_frame.estimator.training.context import RunObserver
from tf_frame.estimator.training.setup import TrainingSetup


class SetupEvaluator:
    """Evaluates checkpoints on the evaluation split, and writes events for TensorBoard.

    Graph and session are kept from one evaluation to the next.

    Args:
      setup: the training whose checkpoints are evaluated.
      model, source: the model and the input, constructed.
      observer: may stop an evaluation between two batches.
      name: of the evaluation, where there are several.

    Attributes:
      eval_dir: the folder of the events.
    """

    def __init__(
        self,
        setup: TrainingSetup,
        *,
        model: Any,
        source: Any,
        observer: RunObserver,
        name: str | None = None,
    ) -> None:
        self.eval_dir = os.path.join(setup.model_dir, f"eval_{name}" if name else "eval")
        self._check = observer.interrupts.raise_if_received
        self._evaluator = Evaluator(
            model=model, source=source, config=setup.config, steps=setup.config.eval_steps
        )

    def evaluate(self, checkpoint: str) -> Evaluated:
        """Evaluates a checkpoint, given by its path prefix; see `Evaluator.evaluate`."""
        evaluated = self._evaluator.evaluate(checkpoint, check=self._check)
        write_evaluation(
            self.eval_dir,
            evaluated.metrics,
            evaluated.summary,
            evaluated.global_step,
            checkpoint=checkpoint,
        )
        return evaluated

    def close(self) -> None:
        """Closes the session and drops the graph."""
        self._evaluator.close()
