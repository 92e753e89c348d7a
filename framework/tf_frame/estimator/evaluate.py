"""Evaluation of a checkpoint over the evaluation split, or `eval_steps` batches of it."""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.match import check_match
from tf_frame.checkpoint.newest import step_of
from tf_frame.errors import DataError
from tf_frame.estimator.job import Job
from tf_frame.graph.eval_graph import EvalGraph, build_eval_graph
from tf_frame.graph.moving_averages import check_averages
from tf_frame.session.interrupts import Interrupts


def evaluate(
    job: Job,
    *,
    model: Any,
    source: Any,
    checkpoint: str,
    interrupts: Interrupts,
    how_to_go_on: str = "stopped; run the same command again to evaluate",
) -> dict[str, float]:
    """Evaluates a checkpoint and writes the figures under `MODEL_DIR/eval`.

    Args:
      job: what was trained.
      model, source: its model and input, constructed.
      checkpoint: path prefix of the checkpoint.
      interrupts: asked after each batch whether to stop.
      how_to_go_on: what a user who stops the evaluation is told.

    Returns:
      Metric name -> value.

    Raises:
      DataError: the evaluation split is empty.
      CheckpointError: the checkpoint belongs to another model.
      Interrupted: a signal arrived.
    """
    graph = build_eval_graph(model=model, source=source, config=job.config)
    with graph.graph.as_default():
        check_match(checkpoint, tf.global_variables())
        if graph.averaged:
            check_averages(checkpoint, graph.averaged)
        creator = tf.train.ChiefSessionCreator(
            graph.scaffold,
            config=tf.ConfigProto(allow_soft_placement=True),
            checkpoint_filename_with_path=checkpoint,
        )
        # Monitored, so that the queues of an input are filled.
        with tf.train.MonitoredSession(session_creator=creator) as session:
            if session.run(graph.endless):
                raise DataError("the evaluation data never ends; say how much: --eval_steps N")
            summary = _run_all(session, graph, interrupts, how_to_go_on)
            metrics = {name: float(v) for name, v in session.run(graph.values).items()}
        _write(job.model_dir, metrics, summary, step_of(checkpoint))
    return metrics


def _run_all(
    session: Any, graph: EvalGraph, interrupts: Interrupts, how_to_go_on: str
) -> bytes | None:
    """Updates the metrics with every batch; returns the summaries of the first."""
    summary, batches = None, 0
    while True:
        interrupts.raise_if_received(how_to_go_on)
        first = batches == 0 and graph.summary_op is not None
        try:
            fetched = session.run((graph.update_op, graph.summary_op if first else ()))
        except tf.errors.OutOfRangeError:
            break
        summary = fetched[1] if first else summary
        batches += 1
    if not batches:
        raise DataError("the evaluation split is empty; nothing to evaluate (see --noevaluate)")
    return summary


def _write(model_dir: str, metrics: dict[str, float], summary: bytes | None, step: int) -> None:
    writer = tf.summary.FileWriterCache.get(os.path.join(model_dir, "eval"))
    values = [tf.Summary.Value(tag=f"metrics/{k}", simple_value=v) for k, v in metrics.items()]
    writer.add_summary(tf.Summary(value=values), step)
    if summary is not None:
        writer.add_summary(summary, step)
    writer.flush()
