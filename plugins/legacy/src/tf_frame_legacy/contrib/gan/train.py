"""Losses, train ops and loops of GANs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy import learning, training
from tf_frame_legacy.contrib.gan import losses
from tf_frame_legacy.contrib.gan.tuples import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANTrainOps,
    GANTrainSteps,
    InfoGANModel,
)

_Hooks = Callable[[GANTrainOps], list[Any]]
_ONE_EACH = GANTrainSteps(1, 1)


def gan_loss(
    model: Any,
    generator_loss_fn: Callable[..., Any] = losses.wasserstein_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: Any = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: float = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: Any = None,
    aux_cond_generator_weight: Any = None,
    aux_cond_discriminator_weight: Any = None,
    tensor_pool_fn: Callable[[Any], Any] | None = None,
    add_summaries: bool = True,
) -> GANLoss:
    """Returns the losses of a model, with the regularization losses of its scopes.

    Args:
      model: a `GANModel`, or one of its kin.
      generator_loss_fn, discriminator_loss_fn: functions of `losses`.
      gradient_penalty_weight, gradient_penalty_epsilon, gradient_penalty_target,
        gradient_penalty_one_sided: weight and arguments of `wasserstein_gradient_penalty`.
      mutual_information_penalty_weight: weight for an `InfoGANModel`.
      aux_cond_generator_weight, aux_cond_discriminator_weight: weights for an `ACGANModel`.
      tensor_pool_fn: maps `(generated_data, generator_inputs)` to older ones, for the
        discriminator.
      add_summaries: whether to write the losses.

    Raises:
      ValueError: a weight is negative, or is for another model.
    """
    weights = {
        "gradient_penalty_weight": gradient_penalty_weight,
        "mutual_information_penalty_weight": mutual_information_penalty_weight,
        "aux_cond_generator_weight": aux_cond_generator_weight,
        "aux_cond_discriminator_weight": aux_cond_discriminator_weight,
    }
    for name, weight in weights.items():
        _check_weight(name, weight, model)
    write = {"add_summaries": add_summaries}
    of_generator = generator_loss_fn(model, **write)
    pooled = _pooled(model, tensor_pool_fn)
    of_discriminator = discriminator_loss_fn(pooled, **write)
    if _is_used(gradient_penalty_weight):
        penalty = losses.wasserstein_gradient_penalty(
            pooled,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            **write,
        )
        of_discriminator += gradient_penalty_weight * penalty
    if _is_used(mutual_information_penalty_weight):
        penalty = losses.mutual_information_penalty(model, **write)
        of_generator += mutual_information_penalty_weight * penalty
        of_discriminator += mutual_information_penalty_weight * penalty
    if _is_used(aux_cond_generator_weight):
        of_generator += aux_cond_generator_weight * losses.acgan_generator_loss(model, **write)
    if _is_used(aux_cond_discriminator_weight):
        loss = losses.acgan_discriminator_loss(model, **write)
        of_discriminator += aux_cond_discriminator_weight * loss
    return GANLoss(
        of_generator + _regularization(model.generator_scope),
        of_discriminator + _regularization(model.discriminator_scope),
    )


def cyclegan_loss(
    model: CycleGANModel,
    generator_loss_fn: Callable[..., Any] = losses.least_squares_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: Callable[..., Any] = losses.cycle_consistency_loss,
    cycle_consistency_loss_weight: float = 10.0,
    **kwargs: Any,
) -> CycleGANLoss:
    """Returns the losses of both directions; see `gan_loss`, which takes `kwargs`."""
    consistency = cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
    consistency *= cycle_consistency_loss_weight

    def direction(one: Any) -> GANLoss:
        loss = gan_loss(one, generator_loss_fn, discriminator_loss_fn, **kwargs)
        return loss._replace(generator_loss=loss.generator_loss + consistency)

    with tf.name_scope("cyclegan_loss_x2y"):
        there = direction(model.model_x2y)
    with tf.name_scope("cyclegan_loss_y2x"):
        back = direction(model.model_y2x)
    return CycleGANLoss(there, back)


def gan_train_ops(
    model: Any,
    loss: Any,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """Returns the operations that train a model.

    Args:
      model: a model, or a `CycleGANModel` with a `CycleGANLoss`.
      check_for_unused_update_ops: whether update operations outside of both scopes are an error.
      is_chief: whether this task initialises synchronous optimizers.
      **kwargs: arguments of `tf.contrib.training.create_train_op`.

    Raises:
      ValueError: there are such update operations.
    """
    if isinstance(model, CycleGANModel):
        there, back = (
            gan_train_ops(
                one,
                one_loss,
                generator_optimizer,
                discriminator_optimizer,
                False,
                is_chief,
                **kwargs,
            )
            for one, one_loss in zip((model.model_x2y, model.model_y2x), loss, strict=True)
        )
        return GANTrainOps(
            (there.generator_train_op, back.generator_train_op),
            (there.discriminator_train_op, back.discriminator_train_op),
            tf.train.get_or_create_global_step().assign_add(1),
            [*there.train_hooks, *back.train_hooks],
        )
    step = tf.train.get_or_create_global_step()
    of_generator, of_discriminator = _update_ops(
        kwargs.pop("update_ops", None), model, check_for_unused_update_ops
    )
    hooks: list[Any] = []

    def train_op(kind: str, total_loss: Any, optimizer: Any, variables: Any, updates: Any) -> Any:
        own_step = None
        if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
            own_step = tf.get_variable(
                f"dummy_global_step_{kind}",
                (),
                step.dtype.base_dtype,
                tf.zeros_initializer(),
                trainable=False,
                collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            )
            updates = [*updates, own_step.assign(step)]
            hooks.append(optimizer.make_session_run_hook(is_chief))
        with tf.name_scope(f"{kind}_train"):
            return training.create_train_op(
                total_loss,
                optimizer,
                own_step,
                updates,
                variables_to_train=variables,
                **kwargs,
            )

    return GANTrainOps(
        train_op(
            "generator",
            loss.generator_loss,
            generator_optimizer,
            model.generator_variables,
            of_generator,
        ),
        train_op(
            "discriminator",
            loss.discriminator_loss,
            discriminator_optimizer,
            model.discriminator_variables,
            of_discriminator,
        ),
        step.assign_add(1),
        hooks,
    )


class RunTrainOpsHook(tf.train.SessionRunHook):
    """Runs train ops some times before each step."""

    def __init__(self, train_ops: Any, train_steps: int) -> None:
        self._train_ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: Any) -> None:
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _Hooks:
    """Returns a function that makes hooks: first the generator is trained, then the other."""

    def get_hooks(train_ops: GANTrainOps) -> list[Any]:
        return [
            RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
            RunTrainOpsHook(
                train_ops.discriminator_train_op, train_steps.discriminator_train_steps
            ),
            *train_ops.train_hooks,
        ]

    return get_hooks


def get_joint_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _Hooks:
    """Returns a function that makes hooks: both are trained at once, as often as possible."""
    both = min(train_steps)

    def get_hooks(train_ops: GANTrainOps) -> list[Any]:
        generator, discriminator = train_ops.generator_train_op, train_ops.discriminator_train_op
        return [
            RunTrainOpsHook([generator, discriminator], both),
            RunTrainOpsHook(generator, train_steps.generator_train_steps - both),
            RunTrainOpsHook(discriminator, train_steps.discriminator_train_steps - both),
            *train_ops.train_hooks,
        ]

    return get_hooks


def gan_train(
    train_ops: GANTrainOps,
    logdir: str,
    get_hooks_fn: _Hooks | None = None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: int | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
) -> Any:
    """Trains until a hook ends it; see `tf.contrib.training.train`."""
    own_hooks = (get_hooks_fn or get_sequential_train_hooks())(train_ops)
    return training.train(
        train_ops.global_step_inc_op,
        logdir,
        master=master,
        is_chief=is_chief,
        scaffold=scaffold,
        hooks=[*(hooks or ()), *own_hooks],
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
    )


def get_sequential_train_steps(train_steps: GANTrainSteps = _ONE_EACH) -> Callable[..., Any]:
    """Returns a `train_step_fn` of `slim.learning.train`, whose train op is a `GANTrainOps`."""

    def step_fn(
        sess: Any, train_ops: GANTrainOps, global_step: Any, train_step_kwargs: dict[str, Any]
    ) -> tuple[Any, bool]:
        others = {key: v for key, v in train_step_kwargs.items() if key != "should_stop"}
        total = 0.0
        counts = (
            (train_ops.generator_train_op, train_steps.generator_train_steps),
            (train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
        )
        for train_op, count in counts:
            for _ in range(count):
                total += learning.train_step(sess, train_op, global_step, others)[0]
        sess.run(train_ops.global_step_inc_op)
        should_stop = train_step_kwargs.get("should_stop")
        return total, False if should_stop is None else sess.run(should_stop)

    return step_fn


def _check_weight(name: str, weight: Any, model: Any) -> None:
    if not tf.is_tensor(weight) and weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    needed = {
        "mutual_information_penalty_weight": InfoGANModel,
        "aux_cond_generator_weight": ACGANModel,
        "aux_cond_discriminator_weight": ACGANModel,
    }.get(name)
    if needed and _is_used(weight) and not isinstance(model, needed):
        raise ValueError(
            f"When `{name}` is provided, `model` must be an `{needed.__name__}`. Instead, was "
            f"{type(model)}."
        )


def _is_used(weight: Any) -> bool:
    return weight is not None and (tf.is_tensor(weight) or weight > 0)


def _pooled(model: Any, tensor_pool_fn: Callable[[Any], Any] | None) -> Any:
    """Returns the model that the discriminator sees: generated data of a pool."""
    if tensor_pool_fn is None:
        return model
    data, inputs = tensor_pool_fn((model.generated_data, model.generator_inputs))
    function = getattr(model, "discriminator_and_aux_fn", None) or model.discriminator_fn
    with tf.variable_scope(model.discriminator_scope, reuse=True):
        outputs = function(data, inputs)
    pooled = model._replace(generated_data=data, generator_inputs=inputs)
    if isinstance(model, ACGANModel):
        logits, classes = outputs
        return pooled._replace(
            discriminator_gen_outputs=logits, discriminator_gen_classification_logits=classes
        )
    if isinstance(model, InfoGANModel):
        logits, distributions = outputs
        return pooled._replace(
            discriminator_gen_outputs=logits, predicted_distributions=distributions
        )
    return pooled._replace(discriminator_gen_outputs=outputs)


def _regularization(scope: Any) -> Any:
    return tf.losses.get_regularization_loss(scope.name) if scope else 0.0


def _update_ops(given: Any, model: Any, is_checked: bool) -> tuple[list[Any], list[Any]]:
    """Returns the update operations of generator and discriminator."""
    every = list(tf.get_collection(tf.GraphKeys.UPDATE_OPS) if given is None else given)
    scopes = (model.generator_scope.name, model.discriminator_scope.name)
    parts = [
        [op for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope) if _is_in(op, every)]
        for scope in scopes
    ]
    unused = [op for op in every if not any(_is_in(op, part) for part in parts)]
    if is_checked and unused:
        raise ValueError(f"There are unused update ops: {unused}")
    return parts[0], parts[1]


def _is_in(op: Any, ops: Sequence[Any]) -> bool:
    return any(op is other for other in ops)
