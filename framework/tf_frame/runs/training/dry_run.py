"""`--dry_run`: two training steps and one evaluation step of a run, without any files.

The dry run finds a mistake in the data, the model or the options in seconds, before a job is
submitted, and leaves no folder to clean up.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster import Cluster
from tf_frame.errors import ConfigError, NoDataError
from tf_frame.hooks.metrics_log import MetricsLog
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.plugin.origin import empty_split_error
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.evaluation.evaluate import run_evaluator
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.runs.evaluation.printing import metric_names, metric_texts
from tf_frame.runs.evaluation.progress import evaluate_watched
from tf_frame.runs.evaluation.results import numbers
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.evaluations import Evaluations
from tf_frame.runs.training.training import Training
from tf_frame.session.interrupts import Interrupted
from tf_frame.text import figure

_STEPS = 2


def dry_run(setup: TrainingSetup, source: Any, *, cluster: Cluster, observer: RunObserver) -> str:
    """Trains two steps, from the folder's checkpoint if it has one, and evaluates one batch.

    All files are written to a temporary folder, which is removed; the folder of the run is only
    read.

    Returns:
      The report for the user.

    Raises:
      ConfigError: the run would train the shared variables of several workers.
      TfFrameError: an error of a run.
      Interrupted: a signal stopped the dry run.
    """
    if cluster.target:
        raise ConfigError(
            "--dry_run would train the variables of the cluster; try the options without the "
            "cluster"
        )
    checkpoint = newest_checkpoint(setup.model_dir, observer.report)
    with tempfile.TemporaryDirectory(prefix="tf-frame-dry-run-") as folder:
        config = dataclasses.replace(setup.config, eval_steps=1)
        trial = dataclasses.replace(setup, model_dir=folder, config=config)
        try:
            with translated_errors(folder):
                lines = list(_try(trial, source, cluster, observer, checkpoint))
        except Interrupted as interrupted:
            raise Interrupted(interrupted.signum, "the dry run was stopped") from None
        finally:
            tf.summary.FileWriterCache.clear()
    return "\n".join([*lines, f"dry run: done; nothing was written to {setup.model_dir}"])


def _try(
    trial: TrainingSetup,
    source: Any,
    cluster: Cluster,
    observer: RunObserver,
    checkpoint: str | None,
) -> Iterator[str]:
    """Yields a line about the training, and two about the evaluation."""
    model = trial.make_model(source.info)
    evaluator = run_evaluator(trial, model=model, source=source)
    evaluations = Evaluations(trial, evaluator, observer, MetricsLog())
    with contextlib.closing(evaluator):
        evaluations.check_metrics()
        if read_step(checkpoint) < trial.config.max_steps:
            context = RunContext(
                observer=observer,
                cluster=cluster,
                checkpoint=checkpoint,
                evaluate_step=evaluations.evaluate_step,
                hooks=[StopAtStepHook(num_steps=_STEPS)],
            )
            yield _train(trial, context, model, source)
            checkpoint = newest_checkpoint(trial.model_dir)
        else:
            yield f"dry run: {checkpoint} has reached --max_steps: nothing to train"
        if trial.config.evaluate and trial.has_evaluation_data(source.info):
            yield from _evaluated(evaluator, checkpoint, observer)


def _evaluated(
    evaluator: Evaluator, checkpoint: str | None, observer: RunObserver
) -> Iterator[str]:
    try:
        metrics = numbers(evaluate_watched(evaluator, checkpoint, observer).metrics)
    except NoDataError as error:
        yield f"dry run: nothing is evaluated: {error}"
        return
    yield f"dry run: evaluated one batch; {', '.join(metric_texts(metrics))}"
    yield f"dry run: an evaluation of the run reports {metric_names(metrics)}"


def _train(trial: TrainingSetup, context: RunContext, model: Any, source: Any) -> str:
    """Trains a few steps; errors as of `dry_run`."""
    trained = Training(trial, context, model=model, source=source).run()
    context.observer.interrupts.raise_if_received()
    if trained.loss is None:
        raise empty_split_error("training split", source)
    origin = f"from {context.checkpoint}" if context.checkpoint else "from the initial values"
    return (
        f"dry run: trained {origin} to step {trained.global_step}; "
        f"total_loss {figure(trained.loss)}"
    )
