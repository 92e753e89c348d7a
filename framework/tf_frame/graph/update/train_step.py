"""From the losses of the clones to one update of the variables."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import PluginError
from tf_frame.graph.losses import Losses
from tf_frame.graph.messages import seen
from tf_frame.graph.update import gradients
from tf_frame.graph.update.loss_scale import make_loss_scale
from tf_frame.graph.update.moving_averages import MovingAverages, moving_averages
from tf_frame.graph.update.sync_replicas import session_hook, synchronous
from tf_frame.graph.update.trainable import variables_to_train
from tf_frame.graph.update.update import all_ready, apply_gradients

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class TrainStep:
    """One update.

    Attributes:
      update: the op; it runs the update ops and moves the averages as well.
      grads_and_vars: the gradients that are applied, after every transform.
      averages: moving averages of variables, None without any.
      hooks: session hooks that the update needs.
      always_updates: whether every run updates; false where a transform may hold it back.
    """

    update: Any
    grads_and_vars: list[tuple[Any, Any]]
    averages: MovingAverages | None
    hooks: Sequence[Any] = ()
    always_updates: bool = True


def build_train_step(
    clones: Sequence[Clone],
    losses: Losses,
    *,
    optimizer: Callable[[], Any],
    transforms: Sequence[Callable[[list[Any]], list[Any]]],
    global_step: Any,
    config: RunOptions,
    deployment: DeploymentConfig,
) -> TrainStep:
    """Differentiates the losses, sums and transforms the gradients, and applies them.

    Args:
      clones: the clones.
      losses: of `gather_losses`.
      optimizer: makes the `tf.compat.v1.train.Optimizer`.
      transforms: gradient transforms, in order.
      global_step: the variable that counts the updates.
      config, deployment: what and where.
    """
    scale = make_loss_scale(config)
    scaled = [scale.scale(loss) if scale else loss for loss in losses.per_clone]
    transforms = [scale, *transforms] if scale else transforms
    with tf.device(deployment.optimizer_device()):
        averages = moving_averages(config, global_step)
        wrapped = synchronous(optimizer(), config=config, averages=averages)
    per_clone = gradients.clone_gradients(
        clones, scaled, wrapped, variables_to_train(config.trainable_scopes)
    )
    with tf.device(deployment.optimizer_device()):
        summed = gradients.sum_gradients(per_clone)
        grads_and_vars = gradients.transform_gradients(summed, transforms)
        ready = all_ready(transforms)
        apply = apply_gradients(
            wrapped,
            gradients.waiting_for(losses.total, grads_and_vars),
            ready=ready,
            global_step=global_step,
            # With synchronous replicas the chief's optimizer moves the averages.
            then=averages.apply if averages and not config.sync_replicas else None,
        )
    update = tf.group(apply, *_statistics(clones, config), name="update_barrier")
    hooks = [session_hook(wrapped, config=config)] if config.sync_replicas else []
    return TrainStep(update, grads_and_vars, averages, hooks, ready is None)


def checked_optimizer(made: Any, plugin: Any) -> Any:
    """What an optimizer plugin made.

    Raises:
      PluginError: it is no `tf.compat.v1.train.Optimizer`; one of Keras is none.
    """
    if not isinstance(made, tf.train.Optimizer):
        raise PluginError(
            f"the optimizer {type(plugin).__name__} returned {seen(made)}; it must return a "
            "tf.compat.v1.train.Optimizer"
        )
    return made


def _statistics(clones: Sequence[Clone], config: RunOptions) -> list[Any]:
    """The update ops, such as those of batch norm, of the first clone or of all."""
    scope = clones[0].scope if config.update_ops == "first_clone" else None
    statistics: list[Any] = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    means = [v.op.name for v in tf.global_variables() if v.op.name.endswith("/moving_mean")]
    if means and not statistics:
        # The Inception trainer ended here; but who fine-tunes with fixed statistics has none.
        logger.warning(
            "Batchnorm updates are missing: nothing in UPDATE_OPS changes %s or %d others; right "
            "only if batch norm is not trained",
            means[0],
            len(means) - 1,
        )
    return statistics
