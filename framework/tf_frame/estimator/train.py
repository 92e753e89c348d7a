"""Training of a job, from its graph to its last checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import cluster_of
from tf_frame.config.run_config import RunConfig
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.estimator.job import Job
from tf_frame.estimator.patterns import unmatched_patterns
from tf_frame.estimator.warm_start import warm_started
from tf_frame.graph.precision import precision_rewrites
from tf_frame.graph.train_graph import TrainGraph, build_train_graph
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook
from tf_frame.session.interrupts import Interrupts
from tf_frame.session.loop import run_steps
from tf_frame.session.monitored import monitored_session


@dataclasses.dataclass(frozen=True)
class Trained:
    """What training came to.

    Attributes:
      global_step: the last step.
      loss: total loss of the last step, None if no step ran.
      steps_per_sec, examples_per_sec: means without the first step.
    """

    global_step: int
    loss: float | None
    steps_per_sec: float | None
    examples_per_sec: float | None


def train(
    job: Job,
    *,
    model: Any,
    source: Any,
    interrupts: Interrupts,
    ready: Callable[[], None],
    say: Callable[[str], None],
) -> Trained:
    """Trains until `max_steps`, the end of the input, or a signal.

    Args:
      job: what to train.
      model, source: its model and input, constructed.
      interrupts: asked after each step whether to stop.
      ready: called once the session is there: the graph fits the folder's checkpoint.
      say: takes a line for the user.

    Raises:
      ConfigError: a pattern matches no variable, and `--strict` is set.
      CheckpointError: the checkpoint belongs to another model.
    """
    config, cluster = job.config, cluster_of(job.config)
    deployment = make_deployment(config, cluster)
    proto = session_config(config, deployment)
    precision_rewrites(proto, config, has_gpu=deployment.has_gpu_clones)
    with unmatched_patterns(strict=config.strict, say=say):
        graph = build_graph(job, model=model, source=source, deployment=deployment)
        if cluster.is_chief:
            graph = warm_started(graph, config, job.model_dir, say=say)
    interrupts.raise_if_received()
    with graph.graph.as_default():
        progress = _progress(config, graph, job.model_dir, job.batches_per_step())
        hooks = [
            NanGuardHook(graph.train_op),
            progress,
            StopAtStepHook(config.max_steps),
            StopOnSignalHook(lambda: interrupts.received),
            *graph.hooks,
        ]
        if not cluster.is_chief and config.startup_delay_steps:
            hooks.append(tf.train.GlobalStepWaiterHook(config.task * config.startup_delay_steps))
        if cluster.is_chief:
            hooks += _chief_hooks(config, graph, job.model_dir)
        with contextlib.closing(progress):
            # A remote session waits for every task of the cluster, deaf to signals.
            with interrupts.deadly() if cluster.target else contextlib.nullcontext():
                session = monitored_session(
                    graph,
                    hooks=hooks,
                    model_dir=job.model_dir,
                    cluster=cluster,
                    config=proto,
                    note=say,
                )
            with session:
                ready()
                run_steps(session, graph)
    return Trained(progress.step, progress.loss, progress.steps_per_sec, progress.examples_per_sec)


def build_graph(job: Job, *, model: Any, source: Any, deployment: DeploymentConfig) -> TrainGraph:
    """Builds the training graph of a job; see `train`."""
    return build_train_graph(
        model=model,
        source=source,
        optimizer=job.make_optimizer(),
        schedule=job.make_schedule(job.schedule_context(source.info)),
        transforms=job.make_transforms(),
        config=job.config,
        deployment=deployment,
    )


def _progress(
    config: RunConfig, graph: TrainGraph, model_dir: str, batches_per_step: int
) -> ProgressHook:
    return ProgressHook(
        graph.train_op,
        last_step=config.max_steps,
        examples_per_step=config.worker_batch_size * config.worker_replicas * batches_per_step,
        every_steps=config.log_every_n_steps,
        writer=tf.summary.FileWriterCache.get(model_dir) if config.task == 0 else None,
    )


def _chief_hooks(config: RunConfig, graph: TrainGraph, model_dir: str) -> list[Any]:
    hooks: list[Any] = [
        CheckpointHook(
            model_dir,
            graph.scaffold,
            every_steps=config.save_checkpoint_steps,
            every_secs=config.save_checkpoint_secs,
        )
    ]
    if config.save_summaries_steps:
        hooks.append(
            SummaryHook(model_dir, graph.summary_op, every_steps=config.save_summaries_steps)
        )
    if config.log_every_n_steps:
        tensors = {"loss": graph.train_op, "learning_rate": graph.learning_rate}
        hooks.append(LoggingHook(tensors, every_steps=config.log_every_n_steps))
    return hooks
