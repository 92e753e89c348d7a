"""Evaluation of a run's checkpoints while it trains and at its end, and its best checkpoints."""

from __future__ import annotations

import os
import shlex
from typing import Any

from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.estimator.evaluation.results import numbers
from tf_frame.estimator.evaluation.run import run_evaluator
from tf_frame.estimator.training.context import RunObserver
from tf_frame.estimator.training.setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.session.interrupts import Interrupted


class RunEvaluator:
    """Evaluates checkpoints of a run, reports the metrics, and keeps the best checkpoints.

    Args:
      setup: the run.
      model, source: the model and the input, constructed.
      observer: the user.
    """

    def __init__(
        self, setup: TrainingSetup, *, model: Any, source: Any, observer: RunObserver
    ) -> None:
        self._setup = setup
        self._observer = observer
        self._evaluator = run_evaluator(setup, model=model, source=source)
        self._metrics_of_step: dict[int, dict[str, float]] = {}

    def evaluate_step(self, step: int) -> dict[str, float]:
        """Evaluates the checkpoint of a step that training has just saved, once."""
        if step not in self._metrics_of_step:
            path = os.path.join(self._setup.model_dir, f"model.ckpt-{step}")
            metrics = self._evaluate(path, how_to_resume(self._setup, step))
            figures = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
            self._observer.report(f"evaluation at step {step}  {figures}")
            self._metrics_of_step[step] = metrics
        return self._metrics_of_step[step]

    def evaluate(self, checkpoint: str) -> dict[str, float]:
        """Evaluates a checkpoint after training; returns metric -> value."""
        self._observer.report(f"evaluating {checkpoint}")
        return self._evaluate(checkpoint, "stopped; run the same command again to evaluate")

    def best_checkpoints(self) -> BestCheckpoints:
        """The best checkpoints of the folder, by the metric that the options name.

        Raises:
          ConfigError: the folder's best checkpoints were chosen by another metric.
        """
        config = self._setup.config
        return BestCheckpoints(
            self._setup.model_dir,
            metric=config.best_metric,
            keep=config.keep_best,
            higher_is_better=config.best_mode == "max",
        )

    def close(self) -> None:
        """Closes the session and drops the graph."""
        self._evaluator.close()

    def _evaluate(self, checkpoint: str, if_interrupted: str) -> dict[str, float]:
        try:
            check = self._observer.interrupts.raise_if_received
            evaluated = self._evaluator.evaluate(checkpoint, check=check)
        except Interrupted as interrupted:
            raise Interrupted(interrupted.signum, if_interrupted) from None
        metrics = numbers(evaluated.metrics)
        if self._setup.config.keep_best and self.best_checkpoints().offer(checkpoint, metrics):
            best = f"one of the {self._setup.config.keep_best} best"
            self._observer.report(f"kept {checkpoint} as {best}")
        return metrics


def how_to_resume(setup: TrainingSetup, step: int) -> str:
    """The message for a user who stopped training at a step."""
    # The mode is the only option that config.yaml does not hold.
    mode = "--mode train_and_evaluate " if setup.mode == TRAIN_AND_EVALUATE else ""
    return (
        f"stopped and saved at step {step} of {setup.config.max_steps}\n"
        f"resume with: tf-frame run {mode}--model_dir {shlex.quote(setup.model_dir)}"
    )
