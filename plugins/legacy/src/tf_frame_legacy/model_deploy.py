"""Clones of a model and their common update, for scripts that use slim's model_deploy.

    config = model_deploy.DeploymentConfig(num_clones=2)
    model = model_deploy.deploy(config, model_fn, optimizer=optimizer)
    slim.learning.train(model.train_op, log_dir, summary_op=model.summary_op)

A clone is a copy of the model on one device. Signatures, names of operations and summaries are the
same as in tensorflow/models, research/slim/deployment/model_deploy.py. Differences: variables of
every API are placed, not only of slim; sparse gradients of several clones stay sparse; a model
without a loss is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.deploy import clones as deploy_clones
from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.summaries import on_cpu
from tf_frame.graph.sync_batch_norm import share_statistics
from tf_frame.graph.update.gradients import sum_gradients, wait_for_loss
from tf_frame_legacy.learning.train_op import gradient_summaries

__all__ = [
    "Clone",
    "DeployedModel",
    "DeploymentConfig",
    "create_clones",
    "deploy",
    "optimize_clones",
]


class DeployedModel(NamedTuple):
    """The result of `deploy`.

    Attributes:
      train_op: runs one step and returns the total loss; None without an optimizer.
      summary_op: merged summaries; None without any.
      total_loss: scalar; None without any loss.
      clones: the clones.
    """

    train_op: Any
    summary_op: Any
    total_loss: Any
    clones: list[Clone]


def create_clones(
    config: DeploymentConfig,
    model_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> list[Clone]:
    """Calls `model_fn(*args, **kwargs)` once per clone, and places the variables.

    Args:
      config: number of clones, and devices of clones and variables.
      model_fn: builds one clone; adds its losses to `tf.GraphKeys.LOSSES`.
      args, kwargs: arguments of each call.
    """
    with variables_placed(config):
        return deploy_clones.create_clones(config, model_fn, args, kwargs, allow_own_variables=True)


def optimize_clones(
    clones: Sequence[Clone],
    optimizer: Any,
    regularization_losses: Sequence[Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, GradsAndVars]:
    """Adds up the losses and the gradients of the clones.

    Args:
      clones: the clones.
      optimizer: an optimizer with `compute_gradients`.
      regularization_losses: scalars that are added to the loss of the first clone;
        None: `tf.GraphKeys.REGULARIZATION_LOSSES`.
      **kwargs: arguments of `compute_gradients`, such as `var_list`.

    Returns:
      `(total_loss, grads_and_vars)`: the mean of the clones' losses plus the
      regularisation, and a pair for each variable that has a gradient.

    Raises:
      ValueError: there is neither a clone with a loss nor a regularisation loss.
    """
    losses, gradients = [], []
    for clone, penalties in _with_penalties(clones, regularization_losses):
        with tf.name_scope(clone.scope):
            loss = _clone_loss(clone, len(clones), penalties)
            if loss is not None:
                losses.append(loss)
                with tf.device(clone.device):
                    gradients.append(optimizer.compute_gradients(loss, **kwargs))
    share_statistics(clones)
    if not losses:
        raise ValueError(
            "no clone has a loss; the model function must add one to tf.GraphKeys.LOSSES, as the "
            "functions of tf.compat.v1.losses and tf.compat.v1.losses.add_loss do"
        )
    total_loss = tf.add_n(losses, name="total_loss")
    pairs = sum_gradients(gradients)
    return total_loss, [
        (gradient, variable) for gradient, variable in pairs if gradient is not None
    ]


def deploy(
    config: DeploymentConfig,
    model_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    optimizer: Any = None,
    summarize_gradients: bool = False,
) -> DeployedModel:
    """Builds clones, losses, update and summaries; without an optimizer, for evaluation.

    The update runs the update ops of the first clone. A missing global step is created
    on the device of the variables.

    Args:
      config: number of clones, and devices of clones and variables.
      model_fn, args, kwargs: as for `create_clones`.
      optimizer: a `tf.compat.v1.train.Optimizer`; None: no training.
      summarize_gradients: add histograms of gradients and of their norms.

    Raises:
      ValueError: there is an optimizer, but no loss.
    """
    summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
    clones = create_clones(config, model_fn, args, kwargs)
    train_op = None
    with tf.device(config.optimizer_device()):
        if optimizer:
            train_op, total_loss, histograms = _train(
                config, clones, optimizer, summarize_gradients
            )
            summaries += histograms
        else:
            share_statistics(clones)
            total_loss = _total_loss(clones)
        summaries += tf.get_collection(tf.GraphKeys.SUMMARIES, clones[0].scope)
        if total_loss is not None:
            summaries.append(tf.summary.scalar("total_loss", total_loss))
        merged = tf.summary.merge(on_cpu(summaries), name="summary_op") if summaries else None
    return DeployedModel(train_op, merged, total_loss, clones)


def _train(
    config: DeploymentConfig, clones: Sequence[Clone], optimizer: Any, summarize_gradients: bool
) -> tuple[Any, Any, list[Any]]:
    """Returns the train op, the total loss and the summaries of the gradients."""
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, clones[0].scope)
    with tf.device(config.variables_device()):
        global_step = tf.train.get_or_create_global_step()
    total_loss, grads_and_vars = optimize_clones(clones, optimizer)
    if not grads_and_vars:
        return None, total_loss, []
    summaries = []
    if summarize_gradients:
        # model_deploy's tags were `VARIABLE:gradient`, which TensorFlow changes to these.
        summaries = gradient_summaries(grads_and_vars, "_", summarize_norm=tf.summary.histogram)
    grads_and_vars = wait_for_loss(total_loss, grads_and_vars)
    updates.append(optimizer.apply_gradients(grads_and_vars, global_step=global_step))
    with tf.control_dependencies([tf.group(*updates)]):
        return tf.identity(total_loss, name="train_op"), total_loss, summaries


def _total_loss(clones: Sequence[Clone]) -> Any:
    losses = []
    for clone, penalties in _with_penalties(clones, None):
        with tf.name_scope(clone.scope):
            losses.append(_clone_loss(clone, len(clones), penalties))
    present = [loss for loss in losses if loss is not None]
    return tf.add_n(present, name="total_loss") if present else None


def _with_penalties(
    clones: Sequence[Clone], regularization_losses: Sequence[Any] | None
) -> list[tuple[Clone, Sequence[Any]]]:
    """Returns each clone with its regularisation losses, which only the first clone has."""
    if regularization_losses is None:
        regularization_losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return [(clone, () if index else regularization_losses) for index, clone in enumerate(clones)]


def _clone_loss(clone: Clone, num_clones: int, regularization_losses: Sequence[Any]) -> Any:
    """Returns the loss that one clone minimises, or None; call it in the clone's name scope."""
    with tf.device(clone.device):
        loss = penalty = None
        collected = tf.get_collection(tf.GraphKeys.LOSSES, clone.scope)
        if collected:
            loss = tf.add_n(collected, name="clone_loss")
            if num_clones > 1:
                loss = tf.divide(loss, num_clones, name="scaled_clone_loss")
        if regularization_losses:
            penalty = tf.add_n(regularization_losses, name="regularization_loss")
        present = [part for part in (loss, penalty) if part is not None]
        total = tf.add_n(present) if present else None
    # Outside of the clone's device, which may have no kernel for summaries.
    if loss is not None:
        tf.summary.scalar("/".join(filter(None, ["Losses", clone.scope, "clone_loss"])), loss)
    if penalty is not None:
        tf.summary.scalar("Losses/regularization_loss", penalty)
    return total
