"""`--show_hooks`, `--show_placement`, `--show_model`: describe the graph without training.

`check_checkpoint` compares its variables with a checkpoint.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.checkpoint.find.reader import check_match
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement_report import placement_table
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.profiling.model_cost import model_layers
from tf_frame.profiling.model_table import format_model
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.build import build_graph, unmatched_patterns
from tf_frame.runs.training.hooks.make import make_hooks
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.session.job_member import JobMember
from tf_frame.session.schedule import Schedule


def show_hooks(setup: TrainingSetup, source: Any, *, report: Callable[[str], None]) -> None:
    """Reports the hooks of a step in their order, each with its steps."""
    observer = RunObserver(report, shows_progress=True)
    # The hook of evaluations is shown but never runs, so it never calls `evaluate_step`.
    context = RunContext(
        observer=observer, cluster=_planned(setup.config), evaluate_step=lambda step: {}
    )
    # Hooks open event files.
    with tempfile.TemporaryDirectory() as folder:
        setup = dataclasses.replace(setup, model_dir=folder)
        deployment = make_deployment(setup.config, context.cluster)
        graph = _graph(setup, source, report, deployment)
        with graph.graph.as_default():
            parts = TrainingParts(
                setup=setup,
                context=context,
                source=source,
                deployment=deployment,
                graph=graph,
                member=JobMember(cluster=context.cluster),
            )
            hooks, _ = make_hooks(parts)
        report("\n".join(Schedule(hooks).describe()))
        tf.summary.FileWriterCache.clear()


def show_placement(setup: TrainingSetup, source: Any, *, report: Callable[[str], None]) -> None:
    """Reports the device of each variable."""
    deployment = make_deployment(setup.config, _planned(setup.config))
    with _graph(setup, source, report, deployment).graph.as_default():
        report(placement_table(tf.global_variables(), deployment).text())


def show_model(setup: TrainingSetup, source: Any, *, report: Callable[[str], None]) -> None:
    """Reports the costs of each layer in one worker."""
    config = setup.config
    built = _graph(setup, source, report, make_deployment(config, _planned(config)))
    with built.graph.as_default():
        trained = tf.trainable_variables()
    layers = model_layers(
        built.graph,
        variables=trained,
        step=built.train_op,
        batch_size=config.clone_batch_size,
    )
    examples = config.worker_batch_size
    report(format_model(layers, examples=examples, depth=config.show_model_depth))


def check_checkpoint(setup: TrainingSetup, source: Any) -> None:
    """Raises a `CheckpointError` if the newest checkpoint of the folder is of another model."""
    checkpoint = newest_checkpoint(setup.model_dir)
    if checkpoint is None:
        return
    deployment = make_deployment(setup.config, _planned(setup.config))
    with _graph(setup, source, lambda text: None, deployment).graph.as_default():
        check_match(checkpoint, tf.global_variables())


def _planned(config: RunOptions) -> Cluster:
    """Returns the cluster of the options, which need not exist."""
    return Cluster(config.task, config.worker_replicas, config.num_ps_tasks, config.master)


def _graph(
    setup: TrainingSetup, source: Any, report: Callable[[str], None], deployment: DeploymentConfig
) -> TrainGraph:
    model = setup.make_model(source.info)
    with unmatched_patterns(strict=setup.config.strict, report=report):
        return build_graph(setup, model=model, source=source, deployment=deployment)
