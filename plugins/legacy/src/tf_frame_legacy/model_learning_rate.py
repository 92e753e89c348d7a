"""DeepLab's learning rates, with the values of both generations of its train_utils.

Scripts of 2018 and of 2020 keep the rates that they were tuned for: the decay counts from step 0
in the first, from the end of the slow start in the second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.learning_rates.cosine import Cosine
from tf_frame.learning_rates.exponential import Step
from tf_frame.learning_rates.multi_steps import MultiSteps
from tf_frame.learning_rates.poly import Poly
from tf_frame.plugin import ScheduleContext

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
    policies gets the values of 2020, otherwise those of 2018.

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
        schedule = _poly(context, learning_power, decay_steps or 0, end_learning_rate or 0.0)
    elif learning_policy == "cosine" and generation != 2018:
        schedule = Cosine(params=Cosine.Params(), context=context)
    elif learning_policy == "multi_steps" and generation != 2018:
        schedule = _multi_steps(context, boundaries, boundary_learning_rates)
    else:
        raise ValueError("Unknown learning policy.")
    now = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    slow = _slow(slow_start_burnin_type, slow_start_learning_rate, base_learning_rate)
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


def _poly(context: ScheduleContext, power: float, decay_steps: float, end: float) -> Any:
    if not decay_steps:
        logger.info("Setting decay_steps to total training steps.")
    params = Poly.Params(power=power, decay_steps=int(decay_steps), end_learning_rate=end)
    return Poly(params=params, context=context)


def _multi_steps(
    context: ScheduleContext, boundaries: Sequence[int] | None, rates: Sequence[float] | None
) -> Any:
    if boundaries is None or rates is None:
        raise ValueError(
            "Must set `boundaries` and `boundary_learning_rates` for multi_steps learning rate "
            "decay."
        )
    params = MultiSteps.Params(tuple(boundaries), tuple(rates))
    return MultiSteps(params=params, context=context)


def _slow(burnin_type: str | None, start: float, base: float) -> Callable[[Any], Any]:
    """Returns a function from the completed share of the slow start to the learning rate."""
    if burnin_type == "linear":
        return lambda done: start + (base - start) * done
    if burnin_type not in (None, "none"):
        raise ValueError("Unknown burnin type.")
    return lambda done: tf.fill(tf.shape(done), start)
