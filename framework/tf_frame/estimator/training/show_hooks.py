"""`--show_hooks`: which hooks run within a step, in which order, and at which steps."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import cluster_of
from tf_frame.deploy.session_config import make_deployment
from tf_frame.estimator.training.hooks import Surroundings, run_hooks
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.train import build_graph
from tf_frame.estimator.training.unmatched_patterns import unmatched_patterns
from tf_frame.session.schedule import Schedule


def show_hooks(job: Job, *, source: Any, report: Callable[[str], None]) -> None:
    """Builds the training graph of a job and says which hooks it has; trains nothing.

    Args:
      job: what would be trained.
      source: the input, constructed.
      report: takes the lines.
    """
    cluster = cluster_of(job.config)
    deployment = make_deployment(job.config, cluster)
    model = job.make_model(source.info)
    around = Surroundings(
        cluster=cluster,
        stopped=lambda: False,
        restored_from=lambda: None,
        evaluate=lambda step: {},
        report=report,
    )
    # Hooks open event files, which are not to stay.
    with tempfile.TemporaryDirectory() as folder:
        job = dataclasses.replace(job, model_dir=folder)
        with unmatched_patterns(strict=job.config.strict, report=report):
            graph = build_graph(job, model=model, source=source, deployment=deployment)
        with graph.graph.as_default():
            hooks = run_hooks(job, graph, around).hooks
        report("\n".join(Schedule(hooks).describe()))
        tf.summary.FileWriterCache.clear()
