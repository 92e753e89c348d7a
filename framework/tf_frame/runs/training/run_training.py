"""One run of the command line: train or resume, evaluate, write `result.json`.

A new run and one that was stopped take the same call: after a crash, a scheduler can start the
same command with the same folder again, and steps that were saved are not trained again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import signal
import time
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.server import LEAVE, STOPPED, send_to_ps, start_server
from tf_frame.cluster.status import ENDED, own_status, write_status
from tf_frame.deploy.session_config import make_deployment, server_config
from tf_frame.deploy.session_devices import device_report
from tf_frame.hooks.metrics_log import MetricsLog, metrics_csv
from tf_frame.plugin.origin import no_batch_in
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.evaluation.evaluate import run_evaluator
from tf_frame.runs.setup.log_file import log_file
from tf_frame.runs.setup.model_dir import locked, write_result
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.evaluations import Evaluations, how_to_resume
from tf_frame.runs.training.train import Trained, train
from tf_frame.session.interrupts import Interrupted


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
      Interrupted: a signal stopped the run; a step that was trained is saved, and
        `result.json` says what stopped the run.
    """
    started = time.monotonic()
    is_chief, model_dir, observer = context.cluster.is_chief, setup.model_dir, context.observer
    lock = locked(model_dir) if is_chief else contextlib.nullcontext()
    log = log_file(model_dir, task=None if is_chief else context.cluster.task_name)
    with lock, log, translated_errors(model_dir, source):
        _start_devices(setup, context)
        model = setup.make_model(source.info)
        evaluator = run_evaluator(setup, model=model, source=source)
        checkpoint = newest_checkpoint(model_dir, observer.report)
        # Read now, for training may remove the checkpoint.
        first_step = read_step(checkpoint)
        loggers = [metrics_csv(model_dir, last_step=first_step)] if is_chief else []
        metrics_log = MetricsLog(loggers, report=observer.report)
        evaluations = Evaluations(setup, evaluator, observer, metrics_log)
        evaluates = _evaluates(setup, source, observer)
        with contextlib.closing(metrics_log), contextlib.closing(evaluator):
            if is_chief:
                evaluations.check_metrics()
            context = dataclasses.replace(
                context,
                checkpoint=checkpoint,
                evaluate_step=evaluations.evaluate_step,
                metrics=metrics_log,
            )
            trained = _train(setup, context, model, source, first_step)
            if is_chief and context.cluster.has_several_tasks:
                # Before the last evaluation, which needs no parameter server.
                send_to_ps(context.cluster, STOPPED if observer.interrupts.received else LEAVE)
            stopped: Interrupted | None = None
            try:
                if observer.interrupts.received:
                    step = max(first_step, trained.global_step)
                    how = how_to_resume(setup, step, context.cluster)
                    raise Interrupted(observer.interrupts.received, how)
                if first_step < setup.config.max_steps:
                    trained = _explained(trained, setup, context, source)
                if is_chief and evaluates:
                    evaluations.evaluate_newest()
            except Interrupted as interrupted:
                stopped = interrupted
        result = {
            "plugin": setup.model.name if setup.model else None,
            "global_step": trained.global_step,
            "total_loss": trained.loss,
            **evaluations.last(),
            "steps_per_sec": trained.steps_per_sec,
            "examples_per_sec": trained.examples_per_sec,
            "step_times": trained.step_times,
            "duration_secs": time.monotonic() - started,
            "stopped_by": stopped and signal.Signals(stopped.signum).name,
        }
        if is_chief:
            write_result(model_dir, result)
        if stopped:
            raise stopped
        return result


def _start_devices(setup: TrainingSetup, context: RunContext) -> None:
    """Reports the devices of this task, and starts its server if its job has one."""
    config, cluster = setup.config, context.cluster
    deployment = make_deployment(config, cluster)
    elsewhere = "" if cluster.jobs else cluster.target
    context.observer.report(device_report(config, deployment, server=elsewhere))
    if cluster.jobs and cluster.target:
        start_server(cluster, server_config(config, deployment, cluster))


def _evaluates(setup: TrainingSetup, source: Any, observer: RunObserver) -> bool:
    """Returns whether the run evaluates at its end; reports it if the run evaluates nothing."""
    config, has_split = setup.config, setup.has_evaluation_data(source.info)
    if config.dedicated_evaluator:
        return False
    why = "the input has no evaluation examples" if config.evaluate else "--noevaluate"
    if not (config.evaluate and has_split) and not config.eval_every_n_steps:
        observer.report(f"note: nothing is evaluated: {why}")
    return config.evaluate and has_split


def _train(
    setup: TrainingSetup, context: RunContext, model: Any, source: Any, step: int
) -> Trained:
    """Trains the steps from `step` on that are missing up to `max_steps`."""
    observer, last_step = context.observer, setup.config.max_steps
    checkpoint = context.checkpoint
    if step >= last_step:
        observer.report(f"{checkpoint} has reached step {step} of {last_step}: nothing to train")
        trained = Trained(step, None, None, None)
    else:
        observer.report(f"resuming from {checkpoint}" if checkpoint else "building the graph ...")
        trained = train(setup, context, model=model, source=source)
    cluster, step = context.cluster, trained.global_step
    if cluster.has_several_tasks and trained.loss is None and step >= last_step:
        # `StatusHook` writes in a session only.
        status = own_status(cluster.task_name, ENDED, step=step, max_steps=last_step)
        write_status(setup.model_dir, status)
    return trained


def _explained(trained: Trained, setup: TrainingSetup, context: RunContext, source: Any) -> Trained:
    """Reports why training ended before its last step, if it did.

    Raises:
      DataError: the training data is empty.
    """
    report, last_step = context.observer.report, setup.config.max_steps
    if trained.loss is None:
        # A worker that comes when the others are done has nothing to do.
        if trained.global_step < last_step:
            raise no_batch_in("training split", source)
        report(f"the other workers have reached step {trained.global_step}: nothing to train")
    elif not math.isfinite(trained.loss):
        # Only with `--on_nan stop`. Evaluation then uses the last good checkpoint.
        saved = newest_checkpoint(setup.model_dir)
        report(
            f"training was stopped at step {trained.global_step} of {last_step}: "
            f"the loss is {trained.loss}; the last good checkpoint is {saved}"
        )
        return dataclasses.replace(trained, global_step=read_step(saved), loss=None)
    elif trained.global_step < last_step:
        what = "training was stopped" if trained.stopped else "the training data ended"
        report(f"{what} at step {trained.global_step} of {last_step}")
    return trained
