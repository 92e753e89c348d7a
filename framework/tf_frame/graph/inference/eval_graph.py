"""Builds the evaluation graph: one clone, streaming metrics, one pass over the data.

A session can evaluate one checkpoint after the other, unless state in the graph, such as a queue,
lets an evaluation change the metrics of the next. `find_session_state` finds such state.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.collector import without_collector
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.graph_edits import FunctionLibrary, ancestors
from tf_frame.graph.inference.build_inference import Inference, build_inference
from tf_frame.graph.inference.mean_loss import mean_loss
from tf_frame.graph.inputs.first_batches import first_batches
from tf_frame.graph.inputs.pipeline import make_eval_batch
from tf_frame.graph.inputs.streams import batch_tensors
from tf_frame.graph.losses import collected_losses
from tf_frame.graph.model_output import LOSS, TOTAL_LOSS
from tf_frame.plugin import InputContext, Mode, ModelOutput
from tf_frame.plugin.needs import check_batch

# Kernels with state between runs that no op resets. Initializable iterators, variables and
# immutable tables have an op that resets them.
_KEEPS_STATE = re.compile(
    r"(FIFOQueue|PaddingFIFOQueue|RandomShuffleQueue|PriorityQueue|\w+Reader|OneShotIterator"
    r"|Mutable\w*HashTable(OfTensors)?|Barrier|Stage|MapStage|OrderedMapStage"
    r"|(Sparse|Resource)?ConditionalAccumulator)(V\d)?"
)


@dataclasses.dataclass(frozen=True)
class EvalGraph:
    """A graph that evaluates a checkpoint.

    Attributes:
      graph: the `tf.Graph`.
      inference: the model in the graph, and its scaffold.
      endless: scalar bool; whether the data is known never to end.
      values: metric name -> tensor, or structure of tensors, valid after the updates.
      update_op: takes one batch and updates every metric.
      summary_op: merged summaries of one batch; None without summaries.
      global_step: the variable.
    """

    graph: Any
    inference: Inference
    endless: Any
    values: Mapping[str, Any]
    update_op: Any
    summary_op: Any
    global_step: Any

    @property
    def ends(self) -> Sequence[Any]:
        """All tensors and operations that an evaluation runs."""
        summary = [] if self.summary_op is None else [self.summary_op]
        return [self.update_op, *tf.nest.flatten(list(self.values.values())), *summary]


@without_collector()
def build_eval_graph(
    *,
    model: Any,
    source: Any,
    config: RunOptions,
    steps: int | None = None,
    summaries: bool = True,
) -> EvalGraph:
    """Builds the evaluation graph.

    Args:
      model: the model plugin.
      source: the input plugin.
      config: batch size and seed.
      steps: largest number of batches; None: all.
      summaries: whether the summaries of the model are evaluated.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(config.random_seed)
        global_step = tf.train.create_global_step()
        context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
        with tf.device("/device:CPU:0"):
            take = -1 if steps is None else steps
            limited = first_batches(source, config)
            features, labels, endless = make_eval_batch(limited, context, take)
        check_batch(model, source, features, labels)
        inference = build_inference(
            model=model, features=features, labels=labels, mode=Mode.EVAL, config=config
        )
        metrics = _metrics(inference.output, config, features, labels)
        # Metrics need not read the batch, but every update must consume one.
        batch = batch_tensors((features, labels))
        return EvalGraph(
            graph=graph,
            inference=inference,
            endless=endless,
            values={name: value for name, (value, _) in metrics.items()},
            update_op=tf.group(*(update for _, update in metrics.values()), *batch),
            summary_op=tf.summary.merge_all() if summaries else None,
            global_step=global_step,
        )


def find_session_state(ends: Iterable[Any]) -> str:
    """Names state that stays in a session from one evaluation to the next.

    Queues, mutable tables and similar state count anywhere in the graph, random ops only if `ends`
    need them, because initial values of variables are random, too.

    Args:
      ends: tensors and operations of the default graph.

    Returns:
      Such as `FIFOQueueV2 'input/fifo_queue'`; empty without state.
    """
    graph = tf.get_default_graph()
    for op in graph.get_operations():
        if _KEEPS_STATE.fullmatch(op.type):
            return f"{op.type} {op.name!r}"
    library = FunctionLibrary(graph)
    for op in ancestors(ends):
        for node in (op.node_def, *library.nodes(op.node_def)):
            # Every op that draws from a generator of its kernel has this attribute.
            if "seed2" in node.attr:
                return f"random numbers, {node.op} {node.name!r}"
    if tf.get_collection(tf.GraphKeys.LOCAL_RESOURCES):
        return "a local resource"
    return ""


def _metrics(
    output: ModelOutput, config: RunOptions, features: Any, labels: Any
) -> dict[str, tuple[Any, Any]]:
    """The metrics of a model, and its losses with the names of training."""
    metrics = dict(output.metrics)
    losses = collected_losses() if output.loss is None else [output.loss]
    if not losses or LOSS in metrics:
        return metrics
    loss = tf.add_n(losses)
    mean, update = metrics[LOSS] = mean_loss(loss, output.loss_terms, features, labels)
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    if config.regularization != "none" and penalties:
        metrics[TOTAL_LOSS] = (mean + tf.cast(tf.add_n(penalties), mean.dtype), update)
    return metrics
