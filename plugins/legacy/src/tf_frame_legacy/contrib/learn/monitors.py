"""`ValidationMonitor`, which evaluates while `fit` trains, and monitors that are session hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


class ValidationMonitor(tf.train.SessionRunHook):  # type: ignore[misc]
    """Evaluates each checkpoint that `fit` writes, and may end the training.

    Args:
      x, y, input_fn, batch_size, eval_steps, metrics, hooks, name: see `Estimator.evaluate`.
      every_n_steps: steps from a look for a new checkpoint to the next.
      early_stopping_rounds: steps without a better value that end the training; None: any number.
      early_stopping_metric: the metric of an evaluation.
      early_stopping_metric_minimize: whether less is better.
      check_interval_secs: without effect.

    Raises:
      ValueError: neither `x` nor `input_fn` is given.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[str, Any] | None = None,
        hooks: Sequence[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: int | None = 5,
    ) -> None:
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._arguments = {
            "x": x,
            "y": y,
            "input_fn": input_fn,
            "batch_size": batch_size,
            "steps": eval_steps,
            "metrics": metrics,
            "hooks": hooks,
            "name": name,
        }
        self._every, self._rounds = every_n_steps, early_stopping_rounds
        self._metric, self._sign = (
            early_stopping_metric,
            1 if early_stopping_metric_minimize else -1,
        )
        self._estimator: Any = None
        self._checkpoint: str | None = None
        self._best: float | None = None
        self.best_step: int | None = None
        self.early_stopped = False

    @property
    def best_value(self) -> float | None:
        """The best value of the metric so far."""
        return self._best

    def set_estimator(self, estimator: Any) -> None:
        """Gives the estimator that trains; `fit` does so."""
        self._estimator = estimator

    def begin(self) -> None:
        self._step = tf.train.get_or_create_global_step()
        self._looked: int | None = None

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results)
        if self._looked is not None and step < self._looked + self._every:
            return
        self._looked = step
        checkpoint = tf.train.latest_checkpoint(self._estimator.model_dir)
        if checkpoint is None or checkpoint == self._checkpoint:
            return
        self._checkpoint = checkpoint
        value = self._estimator.evaluate(**self._arguments).get(self._metric)
        if value is None:
            return
        if self._best is None or self._sign * value < self._sign * self._best:
            self._best, self.best_step = float(value), step
        elif self._rounds is not None and step - (self.best_step or 0) >= self._rounds:
            self.early_stopped = True
            run_context.request_stop()
