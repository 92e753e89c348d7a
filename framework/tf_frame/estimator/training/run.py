"""The whole way of one run of the command line: train or resume, evaluate, write the result."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import shlex
import time
from collections.abc import Callable
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, step_of
from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.cluster import cluster_of
from tf_frame.cluster.server import wait_for_server
from tf_frame.config.yaml_file import to_yaml
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.error_translation import translated_errors
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.evaluation.results import numbers
from tf_frame.estimator.training.evaluate_saved import EvaluateSaved
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.log_file import log_file
from tf_frame.estimator.training.model_dir import CONFIG_FILE, locked, write_text
from tf_frame.estimator.training.observer import RunObserver
from tf_frame.estimator.training.result import write_result
from tf_frame.estimator.training.train import Additions, Trained
from tf_frame.session.interrupts import Interrupted, Interrupts

# Schedulers start the tasks of a job minutes apart.
_SERVER_SECS = 300
_HEADER = "Written by tf-frame; run it again with: tf-frame run --config THIS_FILE"


def run(
    job: Job,
    *,
    source: Any,
    interrupts: Interrupts,
    report: Callable[[str], None],
    evaluates_saved: bool = False,
) -> dict[str, Any]:
    """Trains from the newest checkpoint to `max_steps`, evaluates, writes `result.json`.

    Args:
      job: what to run; its folder exists.
      source: the input, constructed.
      interrupts: where signals arrive.
      report: takes a line for the user.
      evaluates_saved: whether every checkpoint is evaluated when it is saved.

    Returns:
      The result, as `result.json` has it.

    Raises:
      ConfigError: another run is writing to the folder.
      Interrupted: a signal stopped the run; a step that was trained is saved.
    """
    is_chief = cluster_of(job.config).is_chief
    lock = locked(job.model_dir) if is_chief else contextlib.nullcontext()
    with lock, log_file(job.model_dir), translated_errors(job.model_dir):
        observer = RunObserver(report, interrupts, shows_progress=True)
        estimator = Estimator(job.make_model(source.info), config=job, observer=observer)
        with contextlib.closing(estimator):
            todo = _Run(job, source, estimator, interrupts, report, is_chief, evaluates_saved)
            return todo.result()


@dataclasses.dataclass(frozen=True)
class _Run:
    """What the stages of a run share; see `run`."""

    job: Job
    source: Any
    estimator: Estimator
    interrupts: Interrupts
    report: Callable[[str], None]
    is_chief: bool
    evaluates_saved: bool
    found: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def result(self) -> dict[str, Any]:
        """Goes the whole way."""
        started = time.monotonic()
        if self.is_chief and self.job.config.keep_best:
            self.best_checkpoints()  # Another metric than before is refused before training.
        trained = self.train()
        metrics = self.evaluate() if self.is_chief and self.job.config.evaluate else {}
        result = {
            "plugin": self.job.model.name,
            "global_step": trained.global_step,
            "loss": trained.loss,
            "metrics": metrics,
            "steps_per_sec": trained.steps_per_sec,
            "examples_per_sec": trained.examples_per_sec,
            "duration_secs": time.monotonic() - started,
        }
        if self.is_chief:
            write_result(self.job.model_dir, result)
        return result

    def train(self) -> Trained:
        """Trains what is missing up to `max_steps`."""
        checkpoint = newest_checkpoint(self.job.model_dir, self.report)
        step, last_step = step_of(checkpoint), self.job.config.max_steps
        if step >= last_step:
            self.report(f"{checkpoint} has reached step {step} of {last_step}: nothing to train")
            return Trained(step, None, None, None)
        self.wait_for_cluster()
        self.report(f"resuming from {checkpoint}" if checkpoint else "building the graph ...")
        additions = Additions(
            ready=self.write_configuration,
            evaluate=self.evaluate_step,
            listeners=self.listeners(step),
        )
        trained = self.estimator.trained(self.source, last_step, additions)
        if self.interrupts.received:
            step = max(step, trained.global_step)
            raise Interrupted(self.interrupts.received, self.how_to_resume(step))
        if trained.loss is None:
            return self.not_one_step(trained)
        if not math.isfinite(trained.loss):
            return self.diverged(trained)
        if trained.global_step < last_step:
            what = "training was stopped" if trained.stopped else "the training data ended"
            self.report(f"{what} at step {trained.global_step} of {last_step}")
        return trained

    def listeners(self, step: int) -> list[Any]:
        """Who is told of checkpoints, in a run that goes on from `step`."""
        if not self.evaluates_saved:
            return []
        last_step = self.job.config.max_steps
        return [EvaluateSaved(self.evaluate_step, first_step=step, last_step=last_step)]

    def not_one_step(self, trained: Trained) -> Trained:
        """A worker that came when the others had done everything is done; else there is no data."""
        if trained.global_step < self.job.config.max_steps:
            raise DataError("the training data is empty; there was not one batch to train on")
        self.report(f"the other workers have reached step {trained.global_step}: nothing to train")
        return trained

    def diverged(self, trained: Trained) -> Trained:
        """Says why `--on_nan stop` ended training; what counts then is the last good checkpoint."""
        saved = newest_checkpoint(self.job.model_dir)
        self.report(
            f"training was stopped at step {trained.global_step} of {self.job.config.max_steps}: "
            f"the loss is {trained.loss}; the last good checkpoint is {saved}"
        )
        return dataclasses.replace(trained, global_step=step_of(saved), loss=None)

    def wait_for_cluster(self) -> None:
        """Waits for the server of this worker, where there is one."""
        if self.job.config.master:
            wait_for_server(
                self.job.config.master,
                timeout_secs=_SERVER_SECS,
                report=self.report,
                check=self.interrupts.raise_if_received,
            )

    def how_to_resume(self, step: int) -> str:
        """What a user who stopped training wants to know."""
        # The mode is the one thing that config.yaml does not say.
        mode = "--mode train_and_evaluate " if self.evaluates_saved else ""
        return (
            f"stopped and saved at step {step} of {self.job.config.max_steps}\n"
            f"resume with: tf-frame run {mode}--model_dir {shlex.quote(self.job.model_dir)}"
        )

    def evaluate(self) -> dict[str, float]:
        """Evaluates the newest checkpoint."""
        checkpoint = newest_checkpoint(self.job.model_dir)
        if checkpoint is None:
            raise CheckpointError(f"there is no checkpoint in {self.job.model_dir} to evaluate")
        self.report(f"evaluating {checkpoint}")
        return self.evaluated(checkpoint)

    def evaluate_step(self, step: int) -> dict[str, float]:
        """Evaluates a step that training has just saved, once however often it is asked for."""
        if step in self.found:
            return self.found[step]
        path = os.path.join(self.job.model_dir, f"model.ckpt-{step}")
        metrics = self.evaluated(path, self.how_to_resume(step))
        figures = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
        self.report(f"evaluation at step {step}  {figures}")
        self.found[step] = metrics
        return metrics

    def evaluated(
        self, checkpoint: str, how_to_go_on: str = "stopped; run the same command again to evaluate"
    ) -> dict[str, float]:
        """Evaluates a checkpoint, and keeps it if it is one of the best."""
        config = self.job.config
        try:
            metrics = self.estimator.evaluate(
                self.source, steps=config.eval_steps, checkpoint_path=checkpoint
            )
        except Interrupted:
            raise Interrupted(self.interrupts.received or 0, how_to_go_on) from None
        del metrics["global_step"]
        metrics = numbers(metrics)
        if config.keep_best:
            best = self.best_checkpoints()
            if best.offer(checkpoint, metrics):
                self.report(f"kept {checkpoint} as one of the {config.keep_best} best")
        return metrics

    def best_checkpoints(self) -> BestCheckpoints:
        """Those of the folder, as the options name them."""
        config = self.job.config
        return BestCheckpoints(
            self.job.model_dir,
            metric=config.best_metric,
            keep=config.keep_best,
            higher_is_better=config.best_mode == "higher",
        )

    def write_configuration(self) -> None:
        """Writes `config.yaml`; only once the folder's checkpoint is known to fit it."""
        if self.is_chief:
            path = os.path.join(self.job.model_dir, CONFIG_FILE)
            write_text(path, to_yaml(self.job.settings(), _HEADER))
