"""One update of the variables from the losses of the clones, in every run or only in some."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.losses import Losses
from tf_frame.graph.operations import branches_of_switches
from tf_frame.graph.update import gradients
from tf_frame.graph.update.loss_scale import make_loss_scale
from tf_frame.graph.update.moving_averages import MovingAverages, moving_averages
from tf_frame.graph.update.sync_replicas import session_hook, synchronous
from tf_frame.text import short_repr

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class TrainStep:
    """One update.

    Attributes:
      update: the operation, which also runs the update ops and moves the averages.
      grads_and_vars: the gradients that are applied, after every transform.
      averages: moving averages of variables; None without any.
      hooks: session hooks that the update needs.
      always_updates: whether every run updates; false where a transform may hold updates back.
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
      losses: result of `gather_losses`.
      optimizer: makes the `tf.compat.v1.train.Optimizer`.
      transforms: gradient transforms, in order.
      global_step: the variable that counts the updates.
      config, deployment: run options and devices.
    """
    scale = make_loss_scale(config)
    scaled = [scale.scale(loss) if scale else loss for loss in losses.per_clone]
    transforms = [scale, *transforms] if scale else transforms
    with tf.device(deployment.optimizer_device()):
        averages = moving_averages(config, global_step)
        wrapped = synchronous(optimizer(), config=config, averages=averages)
    per_clone = gradients.clone_gradients(
        clones, scaled, wrapped, gradients.variables_to_train(config.trainable_scopes)
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
    """Checks the result of an optimizer plugin, and returns it.

    Raises:
      PluginError: it is no `tf.compat.v1.train.Optimizer`; optimizers of Keras are none.
    """
    if not isinstance(made, tf.train.Optimizer):
        raise PluginError(
            f"the optimizer {type(plugin).__name__} returned {short_repr(made)}; it must return a "
            "tf.compat.v1.train.Optimizer"
        )
    return made


def apply_gradients(
    optimizer: Any,
    grads_and_vars: Iterable[tuple[Any, Any]],
    *,
    ready: Any = None,
    global_step: Any,
    then: Callable[[], Any] | None = None,
) -> Any:
    """Applies gradients in the session runs in which every transform is ready (`all_ready`).

    In other runs variables, slots of the optimizer and the global step do not change. The
    gradients are computed in every run.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      grads_and_vars: pairs; those with None are left out.
      ready: scalar bool tensor, whether to apply them in this run; None: always.
      global_step: the variable that counts the updates.
      then: builds an op that runs after each update, such as one that moves averages.

    Returns:
      The operation.

    Raises:
      ConfigError: a transform holds updates back, and the optimizer waits for
        the gradients of other workers.
    """
    present = [
        (gradient, variable) for gradient, variable in grads_and_vars if gradient is not None
    ]

    def apply() -> Any:
        update = optimizer.apply_gradients(present, global_step=global_step)
        with tf.control_dependencies([update]):
            return tf.group(update, *([then()] if then else []))

    if ready is None:
        return tf.group(apply())
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        raise ConfigError(
            "--sync_replicas cannot wait for updates that are held back: leave out accumulate "
            "(--replicas_to_aggregate adds up gradients as well), and with float16 give a "
            "--loss_scale"
        )
    return _apply_if(ready, apply)


def all_ready(transforms: Iterable[Any]) -> Any:
    """Combines the conditions on which transforms let the gradients be applied in this run.

    Args:
      transforms: gradient transforms; the method `ready` of some returns a scalar bool tensor.

    Returns:
      A scalar bool tensor; None if the gradients are always applied.

    Raises:
      PluginError: `ready` returned something else.
    """
    answers = [transform.ready() for transform in transforms if hasattr(transform, "ready")]
    present = [_scalar_bool(ready) for ready in answers if ready is not None]
    return tf.reduce_all(tf.stack(present), name="all_ready") if present else None


def _statistics(clones: Sequence[Clone], config: RunOptions) -> list[Any]:
    """The update ops of the first clone or of all, such as those of batch norm."""
    scope = clones[0].scope if config.update_ops == "first_clone" else None
    statistics: list[Any] = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    means = [v.op.name for v in tf.global_variables() if v.op.name.endswith("/moving_mean")]
    if means and not statistics:
        # The Inception trainer ended here; but fine-tuning with fixed statistics has no updates.
        logger.warning(
            "Batchnorm updates are missing: nothing in UPDATE_OPS changes %s or %d others; right "
            "only if batch norm is not trained",
            means[0],
            len(means) - 1,
        )
    return statistics


def _scalar_bool(ready: Any) -> Any:
    if not (tf.is_tensor(ready) and ready.dtype == tf.bool and ready.shape.rank == 0):
        raise PluginError(
            f"ready() of a gradient transform returned {ready!r:.80}; it must return a scalar bool "
            "tensor, or None"
        )
    return ready


def _apply_if(ready: Any, apply: Callable[[], Any]) -> Any:
    scope = tf.get_default_graph().get_name_scope()

    def update() -> Any:
        # Adam names variables by the scope; so a checkpoint fits with and without the branch.
        with tf.name_scope(f"{scope}/" if scope else None), tf.control_dependencies([apply()]):
            return tf.constant(True)

    with branches_of_switches():
        return tf.group(tf.cond(ready, update, lambda: tf.constant(False), name="apply_if_ready"))
