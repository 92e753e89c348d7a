"""Builds the update of a training step, or takes the train op of a model function.

The update is the same for every model: losses, loss scale, gradients, transforms, optimizer,
moving averages. A model function of tf.estimator returns its own train op, which runs unchanged:
`--optimizer` and `--schedule` have no effect, transforms and several clones are refused.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError, PluginError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph import summaries
from tf_frame.graph.losses import Losses, gather_losses, loss_averages
from tf_frame.graph.model_output import LOSS, output_origin
from tf_frame.graph.sync_batch_norm import share_statistics
from tf_frame.graph.update import gradients
from tf_frame.graph.update.all_reduce import sum_by_all_reduce, worker_group
from tf_frame.graph.update.apply_gradients import (
    all_ready,
    apply_gradients,
    refuse_held_back,
)
from tf_frame.graph.update.batch_shards import (
    BatchShards,
    batch_shards,
    refuse_shared_statistics,
    send_shards,
    sum_shards,
)
from tf_frame.graph.update.loss_scale import make_loss_scale
from tf_frame.graph.update.moving_averages import MovingAverages, moving_averages
from tf_frame.graph.update.moving_statistics import combine_moving_updates
from tf_frame.graph.update.recompute import recomputed
from tf_frame.graph.update.sync_replicas import synchronous
from tf_frame.learning_rates.warmup import learning_rate
from tf_frame.plugin import ModelOutput
from tf_frame.plugin.origin import wrong_result

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Update:
    """The parts of a `TrainGraph` that differ between a model's train op and tf-frame's.

    Attributes:
      train_op: runs one step; its value is the total loss before the step.
      total_loss: scalar; data loss plus regularisation.
      losses: name -> scalar of the losses to show; the last is `train_op`.
      summary_op: merged summaries; None without summaries.
      learning_rate: scalar; None if the model returned a train op.
      hooks: session hooks of the model.
      sync_replicas: the `SyncReplicas` of workers that update together; each worker needs its
        `session_hook`. None without synchronous replicas.
      run_is_step: whether each run of the train op makes one global step: one worker, and no
        transform that holds updates back.
      own_steps: the number of steps of this worker; None for a single worker.
      grads_and_vars: pairs of gradient (or None) and variable as the optimizer applies them, after
        the transforms; empty if the model returned a train op, and where the chief alone adds up
        the gradients of the workers' shards.
    """

    train_op: Any
    total_loss: Any
    losses: Mapping[str, Any]
    summary_op: Any
    learning_rate: Any = None
    hooks: Sequence[Any] = ()
    sync_replicas: Any = None
    run_is_step: bool = False
    own_steps: Any = None
    grads_and_vars: Sequence[tuple[Any, Any]] = ()


@dataclasses.dataclass(frozen=True)
class _Applied:
    """An operation that applies gradients, after transforms, and whether it does (or None)."""

    op: Any
    grads_and_vars: GradsAndVars
    ready: Any


def make_update(
    clones: Sequence[Clone],
    optimizer: Any,
    schedule: Callable[[Any], Any],
    transforms: Sequence[Callable[[list[Any]], list[Any]]],
    config: RunOptions,
    deployment: DeploymentConfig,
) -> Update:
    """Differentiates the losses, sums and transforms the gradients, and applies them.

    Arguments as of `build_train_graph`.
    """
    global_step = tf.train.get_global_step()
    shards = batch_shards(config, deployment)
    if shards:
        refuse_shared_statistics()
    losses = gather_losses(
        clones, regularization=config.regularization, total=config.total_loss, shards=shards
    )
    with tf.device(deployment.optimizer_device()):
        rate = learning_rate(schedule, config=config, global_step=global_step)
    scale = make_loss_scale(config)
    scaled = [scale.scale(loss) if scale else loss for loss in losses.per_clone]
    transforms = [scale, *transforms] if scale else transforms
    with tf.device(deployment.optimizer_device()):
        averages = moving_averages(config, global_step)
        tf_optimizer = checked_optimizer(optimizer(rate), optimizer)
        tf_optimizer = synchronous(tf_optimizer, config=config, averages=averages)
    origin = output_origin(clones[0].outputs)
    trained = gradients.variables_to_train(config.trainable_scopes, origin=origin)
    with recomputed(clones, config.recompute):
        per_clone = gradients.clone_gradients(clones, scaled, tf_optimizer, trained)
    with tf.device(deployment.optimizer_device()):
        if shards and config.sync_replicas:
            gradients.check_gradients(per_clone[0], origin=origin)
            applied = _apply_at_chief(shards, tf_optimizer, per_clone, losses, transforms)
        else:
            summed = _combine_gradients(clones, per_clone, losses, shards, config, deployment)
            gradients.check_gradients(summed, origin=origin)
            # With synchronous replicas the chief's optimizer moves the averages.
            then = averages.apply if averages and not config.sync_replicas else None
            applied = _apply(tf_optimizer, summed, losses, transforms, then=then)
    own_steps, count_step = _own_steps(config)
    statistics = _statistics_updates(clones, config)
    for clone in clones:
        combine_moving_updates(statistics, clone.scope)
    update = tf.group(applied.op, *statistics, *count_step, name="update_barrier")
    share_statistics(clones)
    observers, extra_summaries = _observers(losses, applied.grads_and_vars, averages, config)
    with tf.control_dependencies([update, *observers]):
        train_op = tf.identity(losses.total, name="train_op")
    return Update(
        train_op,
        losses.total,
        _shown_losses(losses, train_op),
        summaries.merge_summaries(
            clones[0].scope,
            losses,
            rate,
            extra=extra_summaries,
            with_losses=config.loss_average_decay is None,
        ),
        rate,
        hooks=[hook for clone in clones for hook in clone.outputs.hooks],
        sync_replicas=tf_optimizer if config.sync_replicas else None,
        run_is_step=applied.ready is None
        and (deployment.num_replicas == 1 or deployment.all_reduce),
        own_steps=own_steps,
        grads_and_vars=() if shards and config.sync_replicas else applied.grads_and_vars,
    )


def _apply(
    optimizer: Any,
    summed: GradsAndVars,
    losses: Losses,
    transforms: Sequence[Any],
    *,
    then: Callable[[], Any] | None,
) -> _Applied:
    """Transforms and applies gradients; `then` returns an operation for every update."""
    grads_and_vars = gradients.transform_gradients(summed, transforms)
    ready = all_ready(transforms)
    op = apply_gradients(
        optimizer,
        gradients.wait_for_loss(losses.total, grads_and_vars),
        ready=ready,
        global_step=tf.train.get_global_step(),
        then=then,
    )
    return _Applied(op, grads_and_vars, ready)


def _apply_at_chief(
    shards: BatchShards,
    optimizer: Any,
    per_shard: Sequence[GradsAndVars],
    losses: Losses,
    transforms: Sequence[Any],
) -> _Applied:
    """Lets the chief add up, transform and apply the gradients of all workers."""
    op, grads_and_vars = send_shards(
        shards,
        optimizer,
        per_shard,
        losses.regularization,
        after=losses.total,
        transform=functools.partial(gradients.transform_gradients, transforms=transforms),
        global_step=tf.train.get_global_step(),
    )
    ready = all_ready(transforms)
    refuse_held_back(ready)
    return _Applied(op, grads_and_vars, ready)


def _own_steps(config: RunOptions) -> tuple[Any, list[Any]]:
    """Counts this worker's steps, if other workers move the global step, too."""
    if config.worker_replicas == 1:
        return None, []
    local = [tf.GraphKeys.LOCAL_VARIABLES]
    count = tf.Variable(
        tf.zeros([], tf.int64), trainable=False, collections=local, name="own_steps"
    )
    return count, [tf.assign_add(count, 1).op]


def checked_optimizer(optimizer: Any, plugin: Any) -> Any:
    """Checks the result of an optimizer plugin, and returns it.

    Raises:
      PluginError: the result is no `tf.compat.v1.train.Optimizer`, but one of Keras, for example.
    """
    if not isinstance(optimizer, tf.train.Optimizer):
        raise wrong_result(plugin, "__call__", optimizer, "a tf.compat.v1.train.Optimizer")
    return optimizer


def _combine_gradients(
    clones: Sequence[Clone],
    per_clone: Sequence[GradsAndVars],
    losses: Losses,
    shards: BatchShards | None,
    config: RunOptions,
    deployment: DeploymentConfig,
) -> GradsAndVars:
    """The sum of the clones' gradients; without parameter servers its mean over the workers."""
    if shards:
        return sum_shards(shards, per_clone, losses.regularization)
    if config.gradient_reduction == "all_reduce" and len(clones) > 1:
        summed = sum_by_all_reduce(clones, per_clone)
    else:
        summed = gradients.sum_gradients(per_clone)
    group = worker_group(deployment)
    return group.mean_gradients(summed) if group else summed


def _shown_losses(losses: Losses, train_op: Any) -> dict[str, Any]:
    """The data loss, and the total as the value of the train op; only one if they are the same."""
    total = next(iter(losses.by_name()))
    return {LOSS: losses.data, total: train_op} if total != LOSS else {LOSS: train_op}


def _statistics_updates(clones: Sequence[Clone], config: RunOptions) -> list[Any]:
    """The update ops, such as batch norm's, of the first clone or of all clones."""
    if config.makes_steps_together and config.task:
        # Updates of several workers would have no order, and would count each step several times.
        return []
    scope = clones[0].scope if config.update_ops == "first_clone" else None
    statistics: list[Any] = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    means = [v.op.name for v in tf.global_variables() if v.op.name.endswith("/moving_mean")]
    if means and not statistics:
        # The Inception trainer raised an error here; but fine-tuning with fixed statistics is right
        # without updates.
        logger.warning(
            "Batchnorm updates are missing: nothing in UPDATE_OPS changes %s or %d others; right "
            "only if batch norm is not trained",
            means[0],
            len(means) - 1,
        )
    return statistics


def _observers(
    losses: Losses,
    grads_and_vars: GradsAndVars,
    averages: MovingAverages | None,
    config: RunOptions,
) -> tuple[list[Any], list[Any]]:
    """Ops that run in every step, and summaries that the options ask for."""
    ops: list[Any] = []
    extra = gradients.gradient_summaries(grads_and_vars) if config.summarize_gradients else []
    if config.summarize_variables:
        extra += summaries.variable_histograms()
        extra += averages.histograms() if averages else []
    if config.loss_average_decay is not None:
        moved, averaged = loss_averages(losses.by_tag(), decay=config.loss_average_decay)
        ops.append(moved)
        extra += averaged
    return ops, extra


def model_train_op(output: ModelOutput, config: RunOptions, transforms: Sequence[Any]) -> Update:
    """Makes the update of a model that returns its own train op, as model functions do.

    Args:
      output: output of the model for its only clone.
      config, transforms: checked for options that need tf-frame's update.

    Raises:
      PluginError: the model returned a train op without a loss.
      ConfigError: several clones, gradient transforms, or moving averages are asked for.
    """
    _check_model_train_op(output, config, transforms)
    with tf.control_dependencies([output.train_op]):
        train_op = tf.identity(output.loss, name="train_op")
    return Update(
        train_op, output.loss, {LOSS: train_op}, _model_summaries(output), hooks=output.hooks
    )


def _check_model_train_op(
    output: ModelOutput, config: RunOptions, transforms: Sequence[Any]
) -> None:
    if output.loss is None:
        raise PluginError("the model returned a train_op without a loss; return both")
    unsupported = {
        f"num_clones {config.num_clones}": config.num_clones > 1,
        "gradient transforms": bool(transforms),
        "sync_replicas": config.sync_replicas,
        "all-reduce between workers without parameter servers": config.all_reduce,
        f"batch_shards {config.batch_shards}": config.batch_shards,
        "moving_average_decay": config.moving_average_decay is not None,
        "recompute": config.recompute,
    }
    for option, is_requested in unsupported.items():
        if is_requested:
            raise ConfigError(
                f"the model returns its own train_op, so that {option} cannot be used; return the "
                "loss without a train_op, and tf-frame makes the update"
            )


def _model_summaries(output: ModelOutput) -> Any:
    if output.scaffold is not None and output.scaffold.summary_op is not None:
        return output.scaffold.summary_op
    # As in tf.estimator, unless there is a summary of this name (estimator.py).
    if not any(s.op.name == "loss" for s in tf.get_collection(tf.GraphKeys.SUMMARIES)):
        tf.summary.scalar("loss", output.loss)
    return tf.summary.merge_all()
