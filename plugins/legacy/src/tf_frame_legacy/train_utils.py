"""Functions of DeepLab's trainer, for scripts that import them from its utils/train_utils.py.

Same behaviour as tensorflow/models, research/deeplab/utils/train_utils.py: gradient multipliers of
last layers apply to names that contain the name of a layer, restoring omits names that begin with
the name of a layer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name_and_shape
from tf_frame.learning_rates.cosine import Cosine
from tf_frame.learning_rates.exponential import Step
from tf_frame.learning_rates.multi_steps import MultiSteps
from tf_frame.learning_rates.poly import Poly
from tf_frame.plugin import ScheduleContext
from tf_frame_legacy.scale_losses import (
    add_softmax_cross_entropy_loss_for_each_scale as add_softmax_cross_entropy_loss_for_each_scale,
    get_label_weight_mask as get_label_weight_mask,
)

logger = logging.getLogger("tf_frame")


def get_model_learning_rate(
    learning_policy: str,
    base_learning_rate: float,
    learning_rate_decay_step: int,
    learning_rate_decay_factor: float,
    training_number_of_steps: int,
    learning_power: float,
    slow_start_step: int,
    slow_start_learning_rate: float,
    slow_start_burnin_type: str | None = None,
    decay_steps: float | None = None,
    end_learning_rate: float | None = None,
    boundaries: Sequence[int] | None = None,
    boundary_learning_rates: Sequence[float] | None = None,
    *,
    generation: int | None = None,
) -> Any:
    """Builds the learning rate from the global step, which is created if missing.

    tensorflow/models, research/deeplab/utils/train_utils.py, had eight arguments in 2018
    and counted the decay from step 0; since 2020 it has more arguments and counts the
    decay from the end of the slow start. A call with one of the new arguments or
    policies gets the values of 2020, any other call the values of 2018.

    Args:
      learning_policy: "step" or "poly"; in 2020 also "cosine" or "multi_steps".
      base_learning_rate: learning rate before the decay.
      learning_rate_decay_step: steps per decay of "step".
      learning_rate_decay_factor: factor per decay of "step".
      training_number_of_steps: length of training.
      learning_power: exponent of "poly".
      slow_start_step: steps of the slow start.
      slow_start_learning_rate: learning rate in the slow start.
      slow_start_burnin_type: "none", or "linear" for a rise to the base rate.
      decay_steps: length of "poly"; 0: the rest of training.
      end_learning_rate: learning rate at the end of "poly".
      boundaries: last step of each rate of "multi_steps" except the final one.
      boundary_learning_rates: the rates of "multi_steps", one more than boundaries.
      generation: 2018 or 2020; None: chosen by the other arguments.

    Returns:
      A scalar float32 tensor.

    Raises:
      ValueError: unknown policy, burn-in or generation, or no boundaries for
        "multi_steps".
      ConfigError: boundaries that do not increase, or a wrong number of their rates.
    """
    new: list[Any] = [slow_start_burnin_type, decay_steps, end_learning_rate]
    new += [boundaries, boundary_learning_rates]
    skipped = slow_start_step if _is_new(generation, learning_policy, new) else 0
    context = ScheduleContext(
        learning_rate=base_learning_rate,
        num_steps=training_number_of_steps - skipped,
        steps_per_epoch=None,
    )
    if learning_policy == "step":
        decay = Step.Params(learning_rate_decay_factor, learning_rate_decay_step)
        schedule: Callable[[Any], Any] = Step(params=decay, context=context)
    elif learning_policy == "poly":
        schedule = _poly_schedule(
            context, learning_power, decay_steps or 0, end_learning_rate or 0.0
        )
    elif learning_policy == "cosine" and generation != 2018:
        schedule = Cosine(params=Cosine.Params(), context=context)
    elif learning_policy == "multi_steps" and generation != 2018:
        schedule = _multi_steps_schedule(context, boundaries, boundary_learning_rates)
    else:
        raise ValueError("Unknown learning policy.")
    now = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    slow = _slow_start(slow_start_burnin_type, slow_start_learning_rate, base_learning_rate)
    return tf.where(
        now < slow_start_step,
        slow(now / max(slow_start_step, 1)),
        schedule(tf.maximum(now - skipped, 0.0)),
    )


def _is_new(generation: int | None, policy: str, arguments: Sequence[Any]) -> bool:
    if generation not in (None, 2018, 2020):
        raise ValueError(f"generation of the learning rate is {generation!r}; use 2018 or 2020")
    if generation is not None:
        return generation == 2020
    return policy in ("cosine", "multi_steps") or any(value is not None for value in arguments)


def _poly_schedule(context: ScheduleContext, power: float, decay_steps: float, end: float) -> Any:
    if not decay_steps:
        logger.info("Setting decay_steps to total training steps.")
    params = Poly.Params(power=power, decay_steps=int(decay_steps), end_learning_rate=end)
    return Poly(params=params, context=context)


def _multi_steps_schedule(
    context: ScheduleContext, boundaries: Sequence[int] | None, rates: Sequence[float] | None
) -> Any:
    if boundaries is None or rates is None:
        raise ValueError(
            "Must set `boundaries` and `boundary_learning_rates` for multi_steps learning rate "
            "decay."
        )
    params = MultiSteps.Params(tuple(boundaries), tuple(rates))
    return MultiSteps(params=params, context=context)


def _slow_start(burnin_type: str | None, start: float, base: float) -> Callable[[Any], Any]:
    """Returns a function from the completed share of the slow start to the learning rate."""
    if burnin_type == "linear":
        return lambda done: start + (base - start) * done
    if burnin_type not in (None, "none"):
        raise ValueError("Unknown burnin type.")
    return lambda done: tf.fill(tf.shape(done), start)


def get_model_gradient_multipliers(
    last_layers: Sequence[str], last_layer_gradient_multiplier: float
) -> dict[str, float]:
    """Returns factors on the gradients of model variables: of biases and of last layers.

    Args:
      last_layers: names of layers; the op names of their variables contain these names.
      last_layer_gradient_multiplier: factor for the last layers; twice that for their
        biases. Other biases have the factor 2.

    Returns:
      Op name -> factor, for `multiply_gradients`; other variables are omitted.
    """
    multipliers = {}
    for name in (variable.op.name for variable in tf.model_variables()):
        factor = 2.0 if "biases" in name else 1.0
        if any(layer in name for layer in last_layers):
            multipliers[name] = factor * last_layer_gradient_multiplier
        elif "biases" in name:
            multipliers[name] = factor
    return multipliers


def get_model_init_fn(
    train_logdir: str,
    tf_initial_checkpoint: str | None,
    initialize_last_layer: bool,
    last_layers: Sequence[str],
    ignore_missing_vars: bool = False,
) -> Callable[..., None] | None:
    """Returns the function that initialises the model from a checkpoint of another model.

    Args:
      train_logdir: folder of the run; a checkpoint in it takes precedence.
      tf_initial_checkpoint: the checkpoint, or None.
      initialize_last_layer: whether to restore the last layers.
      last_layers: prefixes of the names of the variables of the last layers.
      ignore_missing_vars: skip variables that the checkpoint does not have.

    Returns:
      A function of a session, or of a scaffold and a session; None if there is nothing
      to restore. The global step is not restored.

    Raises:
      ValueError: a variable is missing in the checkpoint, or has another shape there.
      ConfigError: the checkpoint does not exist.
      CheckpointError: the checkpoint cannot be read.
    """
    if tf_initial_checkpoint is None:
        logger.info("Not initializing the model from a checkpoint.")
        return None
    if tf.train.latest_checkpoint(train_logdir):
        logger.info("Ignoring initialization; other checkpoint exists")
        return None
    logger.info("Initializing model from path: %s", tf_initial_checkpoint)
    excluded = (tf.GraphKeys.GLOBAL_STEP, *(() if initialize_last_layer else last_layers))
    variables = [v for v in tf.global_variables() if not v.op.name.startswith(excluded)]
    checkpoint = Checkpoint(resolve_checkpoint(tf_initial_checkpoint))
    restored = _present(variables, checkpoint, ignore_missing_vars)
    if not restored:
        return None
    saver = tf.train.Saver(restored, name="init_fn")

    def restore(*scaffold_and_session: Any) -> None:
        saver.restore(scaffold_and_session[-1], checkpoint.path)

    return restore


def _present(variables: Sequence[Any], checkpoint: Checkpoint, ignore_missing: bool) -> list[Any]:
    """Returns the variables that the checkpoint has."""
    present = []
    for variable in variables:
        name, shape = saved_name_and_shape(variable)
        if name in checkpoint:
            _check_shape(name, shape, checkpoint)
            present.append(variable)
        elif ignore_missing:
            logger.warning("Checkpoint is missing variable [%s]", name)
        else:
            raise ValueError(
                f"Checkpoint is missing variable [{name}]: {checkpoint.path}. "
                "Use ignore_missing_vars=True to skip the variable"
            )
    return present


def _check_shape(name: str, shape: list[int], checkpoint: Checkpoint) -> None:
    if checkpoint.shape(name) != shape:
        raise ValueError(
            f"{name} has shape {shape}, and {checkpoint.shape(name)} in the checkpoint "
            f"{checkpoint.path}; to skip the variable, use initialize_last_layer=False and a "
            "prefix of its name in last_layers"
        )
