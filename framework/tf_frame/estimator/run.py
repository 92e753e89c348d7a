"""The whole way of one run: train or resume, evaluate, write the result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from tf_frame.checkpoint.newest import newest_checkpoint, step_of
from tf_frame.config.yaml_file import to_yaml
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.evaluate import evaluate
from tf_frame.estimator.explain import errors_explained
from tf_frame.estimator.job import Job
from tf_frame.estimator.log_file import log_file
from tf_frame.estimator.model_dir import CONFIG_FILE, write_text
from tf_frame.estimator.result import write_result
from tf_frame.estimator.train import Trained, train
from tf_frame.session.interrupts import Interrupted, Interrupts


def run(job: Job, *, source: Any, interrupts: Interrupts, say: Callable[[str], None]) -> Any:
    """Trains from the newest checkpoint to `max_steps`, evaluates, writes `result.json`.

    Args:
      job: what to run; its folder exists.
      source: the input, constructed.
      interrupts: where signals arrive.
      say: takes a line for the user.

    Returns:
      The result, as `result.json` has it.

    Raises:
      Interrupted: a signal stopped training; the current step is saved.
    """
    started = time.monotonic()
    model = job.make_model(source.info)
    with log_file(job.model_dir), errors_explained(job.model_dir):
        if job.config.task == 0:
            header = "Written by tf-frame; run it again with: tf-frame run --config THIS_FILE"
            write_text(os.path.join(job.model_dir, CONFIG_FILE), to_yaml(job.settings(), header))
        trained = _train(job, model, source, interrupts, say)
        metrics = _evaluate(job, model, source, interrupts, say)
        result = {
            "plugin": job.model.name,
            "global_step": trained.global_step,
            "loss": trained.loss,
            "metrics": metrics,
            "steps_per_sec": trained.steps_per_sec,
            "examples_per_sec": trained.examples_per_sec,
            "duration_secs": time.monotonic() - started,
        }
        if job.config.task == 0:
            write_result(job.model_dir, result)
    return result


def _train(
    job: Job, model: Any, source: Any, interrupts: Interrupts, say: Callable[[str], None]
) -> Trained:
    checkpoint = newest_checkpoint(job.model_dir)
    step = step_of(checkpoint)
    if step >= job.config.max_steps:
        say(f"{checkpoint} has reached step {step} of {job.config.max_steps}: nothing to train")
        return Trained(step, None, None, None)
    say(f"resuming from {checkpoint}" if checkpoint else "building the graph ...")
    trained = train(job, model=model, source=source, interrupts=interrupts)
    if interrupts.received:
        raise Interrupted(interrupts.received, _how_to_resume(job, max(step, trained.global_step)))
    if trained.loss is None:
        raise DataError("the training data is empty; there was not one batch to train on")
    if trained.global_step < job.config.max_steps:
        say(f"the training data ended at step {trained.global_step} of {job.config.max_steps}")
    return trained


def _how_to_resume(job: Job, step: int) -> str:
    return (
        f"stopped and saved at step {step} of {job.config.max_steps}\n"
        f"resume with: tf-frame run --model_dir {job.model_dir}"
    )


def _evaluate(
    job: Job, model: Any, source: Any, interrupts: Interrupts, say: Callable[[str], None]
) -> dict[str, float]:
    if not job.config.evaluate or job.config.task != 0:
        return {}
    checkpoint = newest_checkpoint(job.model_dir)
    if checkpoint is None:
        raise CheckpointError(f"there is no checkpoint in {job.model_dir} to evaluate")
    say(f"evaluating {checkpoint}")
    return evaluate(job, model=model, source=source, checkpoint=checkpoint, interrupts=interrupts)
