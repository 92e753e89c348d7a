"""One run of the command line: train or resume, evaluate, write `result.json`.

A new run and one that was stopped take the same call: after a crash, a scheduler can start the
same command with the same folder again, and steps that were saved are not trained again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import shlex
import time
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, step_of
from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.cluster import wait_for_server
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.error_translation import translated_errors
from tf_frame.estimator.evaluation.evaluator import Evaluator
from tf_frame.estimator.evaluation.results import numbers
from tf_frame.estimator.evaluation.run import run_evaluator
from tf_frame.estimator.training.context import RunContext, RunObserver
from tf_frame.estimator.training.model_dir import locked, log_file, write_result
from tf_frame.estimator.training.setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.estimator.training.train import Trained, train
from tf_frame.session.interrupts import Interrupted

# Time to wait for the servers of other tasks, which a scheduler may start minutes later.
_SERVER_SECS = 300


def run(setup: TrainingSetup, context: RunContext, source: Any) -> dict[str, Any]:
    """Trains from the newest checkpoint to `max_steps`, evaluates, writes `result.json`.

    Args:
      setup: what to train; its folder exists.
      context: who watches, and which worker this is.
      source: the input, constructed.

    Returns:
      The result, as `result.json` has it.

    Raises:
      ConfigError: another run is writing to the folder.
      Interrupted: a signal stopped the run; a step that was trained is saved.
    """
    started = time.monotonic()
    is_chief, model_dir = context.cluster.is_chief, setup.model_dir
    lock = locked(model_dir) if is_chief else contextlib.nullcontext()
    with lock, log_file(model_dir), translated_errors(model_dir):
        model = setup.make_model(source.info)
        evaluator = run_evaluator(setup, model=model, source=source)
        evaluations = _Evaluations(setup, evaluator, context.observer)
        with contextlib.closing(evaluator):
            if is_chief and setup.config.keep_best:
                # Checks before training that the metric is that of the folder's best.json.
                evaluations.best_checkpoints()
            context = dataclasses.replace(context, evaluate_step=evaluations.evaluate_step)
            trained = _train(setup, context, model, source)
            metrics: dict[str, float] = {}
            if is_chief and setup.config.evaluate:
                metrics = evaluations.evaluate_newest()
        result = {
            "plugin": setup.model.name if setup.model else None,
            "global_step": trained.global_step,
            "loss": trained.loss,
            "metrics": metrics,
            "steps_per_sec": trained.steps_per_sec,
            "examples_per_sec": trained.examples_per_sec,
            "duration_secs": time.monotonic() - started,
        }
        if is_chief:
            write_result(model_dir, result)
        return result


def _train(setup: TrainingSetup, context: RunContext, model: Any, source: Any) -> Trained:
    """Trains the steps that are missing up to `max_steps`."""
    observer, last_step = context.observer, setup.config.max_steps
    checkpoint = newest_checkpoint(setup.model_dir, observer.report)
    step = step_of(checkpoint)
    if step >= last_step:
        observer.report(f"{checkpoint} has reached step {step} of {last_step}: nothing to train")
        return Trained(step, None, None, None)
    if setup.config.master:
        wait_for_server(
            setup.config.master,
            timeout_secs=_SERVER_SECS,
            report=observer.report,
            check=observer.interrupts.raise_if_received,
        )
    observer.report(f"resuming from {checkpoint}" if checkpoint else "building the graph ...")
    context = dataclasses.replace(context, checkpoint=checkpoint)
    trained = train(setup, context, model=model, source=source)
    if observer.interrupts.received:
        step = max(step, trained.global_step)
        raise Interrupted(observer.interrupts.received, _how_to_resume(setup, step))
    return _explained(trained, setup, context)


def _explained(trained: Trained, setup: TrainingSetup, context: RunContext) -> Trained:
    """Reports why training ended before its last step, if it did.

    Raises:
      DataError: the training data is empty.
    """
    report, last_step = context.observer.report, setup.config.max_steps
    if trained.loss is None:
        # A worker that comes when the others are done has nothing to do.
        if trained.global_step < last_step:
            raise DataError("the training data is empty; there was not one batch to train on")
        report(f"the other workers have reached step {trained.global_step}: nothing to train")
    elif not math.isfinite(trained.loss):
        # Only with `--on_nan stop`. Evaluation then uses the last good checkpoint.
        saved = newest_checkpoint(setup.model_dir)
        report(
            f"training was stopped at step {trained.global_step} of {last_step}: "
            f"the loss is {trained.loss}; the last good checkpoint is {saved}"
        )
        return dataclasses.replace(trained, global_step=step_of(saved), loss=None)
    elif trained.global_step < last_step:
        what = "training was stopped" if trained.stopped else "the training data ended"
        report(f"{what} at step {trained.global_step} of {last_step}")
    return trained


@dataclasses.dataclass(frozen=True)
class _Evaluations:
    """Evaluates checkpoints of a run, reports the metrics, and keeps the best checkpoints."""

    setup: TrainingSetup
    evaluator: Evaluator
    observer: RunObserver
    metrics_of_step: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def evaluate_step(self, step: int) -> dict[str, float]:
        """Evaluates the checkpoint of a step that training has just saved, once."""
        if step not in self.metrics_of_step:
            path = os.path.join(self.setup.model_dir, f"model.ckpt-{step}")
            metrics = self._evaluate(path, _how_to_resume(self.setup, step))
            figures = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
            self.observer.report(f"evaluation at step {step}  {figures}")
            self.metrics_of_step[step] = metrics
        return self.metrics_of_step[step]

    def evaluate_newest(self) -> dict[str, float]:
        """Evaluates the newest checkpoint after training; returns metric -> value."""
        checkpoint = newest_checkpoint(self.setup.model_dir)
        if checkpoint is None:
            raise CheckpointError(f"there is no checkpoint in {self.setup.model_dir} to evaluate")
        self.observer.report(f"evaluating {checkpoint}")
        return self._evaluate(checkpoint, "stopped; run the same command again to evaluate")

    def best_checkpoints(self) -> BestCheckpoints:
        """The best checkpoints of the folder, by the metric that the options name.

        Raises:
          ConfigError: the folder's best checkpoints were chosen by another metric.
        """
        config = self.setup.config
        return BestCheckpoints(
            self.setup.model_dir,
            metric=config.best_metric,
            keep=config.keep_best,
            higher_is_better=config.best_mode == "max",
        )

    def _evaluate(self, checkpoint: str, if_interrupted: str) -> dict[str, float]:
        try:
            check = self.observer.interrupts.raise_if_received
            evaluated = self.evaluator.evaluate(checkpoint, check=check)
        except Interrupted as interrupted:
            raise Interrupted(interrupted.signum, if_interrupted) from None
        metrics = numbers(evaluated.metrics)
        if self.setup.config.keep_best and self.best_checkpoints().offer(checkpoint, metrics):
            best = f"one of the {self.setup.config.keep_best} best"
            self.observer.report(f"kept {checkpoint} as {best}")
        return metrics


def _how_to_resume(setup: TrainingSetup, step: int) -> str:
    """The message for a user who stopped training at a step."""
    # The mode is the only option that config.yaml does not hold.
    mode = "--mode train_and_evaluate " if setup.mode == TRAIN_AND_EVALUATE else ""
    return (
        f"stopped and saved at step {step} of {setup.config.max_steps}\n"
        f"resume with: tf-frame run {mode}--model_dir {shlex.quote(setup.model_dir)}"
    )
