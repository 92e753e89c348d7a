"""The evaluation graph: one clone, streaming metrics, one pass over the data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.inputs import make_eval_batch
from tf_frame.graph.losses import collected_losses
from tf_frame.graph.model_output import build_model
from tf_frame.graph.moving_averages import averaged_saver_map, variables_to_average
from tf_frame.graph.quantization import quantize_eval_graph
from tf_frame.plugin import InputContext, Mode


@dataclasses.dataclass(frozen=True)
class EvalGraph:
    """A graph that evaluates a checkpoint.

    Attributes:
      graph: the `tf.Graph`.
      endless: scalar bool; whether the data repeats for ever.
      values: metric name -> scalar tensor, valid after the updates.
      update_op: takes one batch and updates every metric.
      summary_op: merged summaries of one batch, None without any.
      scaffold: how a session is initialised, and the saver.
      averaged: the variables that stand for their moving averages.
    """

    graph: Any
    endless: Any
    values: Mapping[str, Any]
    update_op: Any
    summary_op: Any
    scaffold: Any
    averaged: Sequence[Any] = ()


def build_eval_graph(*, model: Any, source: Any, config: RunOptions) -> EvalGraph:
    """Builds the evaluation graph.

    Args:
      model: the model plugin.
      source: the input plugin.
      config: batch size and seed.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(config.random_seed)
        tf.train.create_global_step()
        context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
        take = -1 if config.eval_steps is None else config.eval_steps
        with tf.device("/device:CPU:0"):
            features, labels, endless = make_eval_batch(source, context, take)
        output = build_model(model, features, labels, Mode.EVAL)
        if config.quantize_delay_step >= 0:
            quantize_eval_graph(delay_steps=config.quantize_delay_step)
        metrics = dict(output.metrics)
        losses = collected_losses() if output.loss is None else [output.loss]
        if losses:
            metrics.setdefault("loss", tf.metrics.mean(tf.add_n(losses)))
        # Metrics need not look at the batch, but every update must use one up.
        batch = [part for part in tf.nest.flatten((features, labels)) if part is not None]
        averaged = _averaged(config)
        return EvalGraph(
            graph=graph,
            endless=endless,
            values={name: value for name, (value, _) in metrics.items()},
            update_op=tf.group(*(update for _, update in metrics.values()), *batch),
            summary_op=tf.summary.merge_all(),
            scaffold=tf.train.Scaffold(saver=tf.train.Saver(averaged_saver_map(averaged))),
            averaged=averaged,
        )


def _averaged(config: RunOptions) -> list[Any]:
    if config.moving_average_decay is None or not config.eval_moving_averages:
        return []
    return variables_to_average()
