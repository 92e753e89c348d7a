"""The training graph: what every trainer builds between options and session.

inputs -> clones -> losses -> gradients -> transforms -> update -> train_op
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig
from tf_frame.deploy.clones import Clone, create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.deploy.placement_strategies import Strategy, balanced, variable_sizes
from tf_frame.graph import gradients, summaries
from tf_frame.graph.global_step import read_step_after
from tf_frame.graph.gradient_summaries import gradient_summaries
from tf_frame.graph.graph_hook import run_graph_hooks
from tf_frame.graph.inputs import make_batches
from tf_frame.graph.loss_averages import loss_averages
from tf_frame.graph.loss_scale import make_loss_scale
from tf_frame.graph.losses import Losses, gather_losses
from tf_frame.graph.model_output import build_model
from tf_frame.graph.moving_averages import MovingAverages, moving_averages
from tf_frame.graph.sync_replicas import session_hook, synchronous
from tf_frame.graph.trainable import variables_to_train
from tf_frame.graph.update import apply_gradients
from tf_frame.graph.xla import xla_scope
from tf_frame.learning_rates.warmup import learning_rate
from tf_frame.plugin import InputContext, Mode

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class TrainGraph:
    """A graph ready for a session, and its handles.

    Attributes:
      graph: the `tf.Graph`.
      train_op: runs one step; its value is the total loss before the step.
      total_loss: scalar; data loss plus regularisation.
      global_step: the variable.
      step_after: the global step after `train_op`, to be fetched beside it.
      learning_rate: scalar.
      summary_op: merged summaries of the first clone and of the whole.
      scaffold: how a session is initialised, and the saver.
      clones: the clones.
      hooks: session hooks that the graph needs.
    """

    graph: Any
    train_op: Any
    total_loss: Any
    global_step: Any
    step_after: Any
    learning_rate: Any
    summary_op: Any
    scaffold: Any
    clones: Sequence[Clone]
    hooks: Sequence[Any] = ()


def build_train_graph(
    *,
    model: Any,
    source: Any,
    optimizer: Any,
    schedule: Callable[[Any], Any],
    transforms: Sequence[Callable[[list[Any]], list[Any]]],
    config: RunConfig,
    deployment: DeploymentConfig,
) -> TrainGraph:
    """Builds the training graph of one worker.

    Args:
      model: the model plugin.
      source: the input plugin.
      optimizer: the optimizer plugin.
      schedule: the learning-rate plugin.
      transforms: gradient transforms, in order.
      config: batch size, seed and the like.
      deployment: devices and number of clones.
    """
    graph = tf.Graph()
    strategy = _strategy(model, source, config, deployment)
    with graph.as_default(), variables_placed(deployment, strategy):
        tf.set_random_seed(config.random_seed)
        global_step = tf.train.create_global_step()
        clones = _clones(model, source, config, deployment)
        run_graph_hooks(model=model, config=config, deployment=deployment)
        losses = gather_losses(
            clones, regularization=config.regularization, total=config.total_loss
        )
        with tf.device(deployment.optimizer_device()):
            rate = learning_rate(schedule, config=config, global_step=global_step)
            averages = moving_averages(config, global_step)
            wrapped = synchronous(optimizer(rate), config=config, averages=averages)
        update, extra = _update(
            clones, losses, wrapped, averages, transforms, global_step, config, deployment
        )
        with tf.control_dependencies([update]):
            train_op = tf.identity(losses.total, name="train_op")
        return TrainGraph(
            graph=graph,
            train_op=train_op,
            total_loss=losses.total,
            global_step=global_step,
            step_after=read_step_after([train_op], global_step),
            learning_rate=rate,
            summary_op=summaries.merge(
                clones[0].scope,
                losses,
                rate,
                clones=config.clone_summaries,
                extra=extra,
                with_losses=config.loss_average_decay is None,
            ),
            scaffold=tf.train.Scaffold(saver=_saver(config, deployment)),
            clones=clones,
            hooks=[session_hook(wrapped, config=config)] if config.sync_replicas else [],
        )


def _strategy(
    model: Any, source: Any, config: RunConfig, deployment: DeploymentConfig
) -> Strategy | None:
    """How variables are dealt out; by their bytes, once those of one clone are known."""
    if config.placement != "balanced" or deployment.num_ps_tasks < 2:
        return None
    alone = dataclasses.replace(deployment, num_clones=1)

    def build() -> None:
        tf.train.create_global_step()
        _clones(model, source, config, alone)

    return balanced(deployment, variable_sizes(build))


def _clones(
    model: Any, source: Any, config: RunConfig, deployment: DeploymentConfig
) -> list[Clone]:
    context = InputContext(
        batch_size=config.clone_batch_size,
        seed=config.random_seed,
        num_shards=deployment.num_replicas,
        shard_index=deployment.replica_id,
    )
    batches = iter(make_batches(source, Mode.TRAIN, context, deployment))

    def build_clone() -> Any:
        with xla_scope(config):
            return build_model(model, *next(batches), Mode.TRAIN)

    return create_clones(deployment, build_clone)


def _update(
    clones: Sequence[Clone],
    losses: Losses,
    optimizer: Any,
    averages: MovingAverages | None,
    transforms: Sequence[Callable[[list[Any]], list[Any]]],
    global_step: Any,
    config: RunConfig,
    deployment: DeploymentConfig,
) -> tuple[Any, list[Any]]:
    """One update of the variables and of the moving statistics; and summaries of it."""
    scale = make_loss_scale(config)
    to_differentiate = [scale.scale(loss) if scale else loss for loss in losses.per_clone]
    per_clone = gradients.clone_gradients(
        clones, to_differentiate, optimizer, variables_to_train(config.trainable_scopes)
    )
    transforms = [scale, *transforms] if scale else transforms
    with tf.device(deployment.optimizer_device()):
        grads_and_vars = gradients.sum_gradients(per_clone)
        grads_and_vars = gradients.transform_gradients(grads_and_vars, transforms)
        # With synchronous replicas the chief's optimizer moves the averages.
        moves = averages.apply if averages and not config.sync_replicas else None
        apply = apply_gradients(
            optimizer, grads_and_vars, transforms=transforms, global_step=global_step, then=moves
        )
    ops, extra = _observed(losses, grads_and_vars, averages, config)
    scope = clones[0].scope if config.update_ops == "first_clone" else None
    statistics = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    if not statistics:
        _note_missing_updates()
    return tf.group(apply, *statistics, *ops, name="update_barrier"), extra


def _observed(
    losses: Losses, grads_and_vars: list[Any], averages: MovingAverages | None, config: RunConfig
) -> tuple[list[Any], list[Any]]:
    """What the options want to see: ops to run in every step, and summaries."""
    ops, extra = [], gradient_summaries(grads_and_vars) if config.summarize_gradients else []
    if config.summarize_variables:
        extra += summaries.variable_histograms()
        extra += averages.histograms() if averages else []
    if config.loss_average_decay is not None:
        moved, averaged = loss_averages(losses.by_name(), decay=config.loss_average_decay)
        ops.append(moved)
        extra += averaged
    return ops, extra


def _note_missing_updates() -> None:
    means = [v.op.name for v in tf.global_variables() if v.op.name.endswith("/moving_mean")]
    if means:
        # The Inception trainer ended here; but who fine-tunes with fixed statistics has none.
        logger.warning(
            "Batchnorm updates are missing: nothing in UPDATE_OPS changes %s or %d others; right "
            "only if batch norm is not trained",
            means[0],
            len(means) - 1,
        )


def _saver(config: RunConfig, deployment: DeploymentConfig) -> Any:
    return tf.train.Saver(
        max_to_keep=config.max_to_keep,
        sharded=deployment.num_ps_tasks > 1,
        save_relative_paths=True,
    )
