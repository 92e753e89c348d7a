"""`--show_placement`: which device would hold which variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import cluster_of
from tf_frame.deploy.placement_report import placement_table
from tf_frame.deploy.session_config import make_deployment
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.train import build_graph
from tf_frame.estimator.training.unmatched_patterns import unmatched_patterns


def show_placement(job: Job, *, source: Any, report: Callable[[str], None]) -> None:
    """Builds the training graph of a job and says where its variables are; trains nothing.

    Args:
      job: what would be trained.
      source: the input, constructed.
      report: takes the table.
    """
    deployment = make_deployment(job.config, cluster_of(job.config))
    model = job.make_model(source.info)
    with unmatched_patterns(strict=job.config.strict, report=report):
        graph = build_graph(job, model=model, source=source, deployment=deployment)
    with graph.graph.as_default():
        report(placement_table(tf.global_variables(), deployment).text())
