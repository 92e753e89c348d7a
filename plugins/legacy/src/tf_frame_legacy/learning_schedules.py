"""Learning-rate schedules of the Object Detection API (utils/learning_schedules.py).

    from tf_frame_legacy import learning_schedules  # was: object_detection.utils

    rate = learning_schedules.manual_stepping(step, [1000, 2000], [0.1, 0.01, 0.001])

The rates come from tf-frame's schedules `exponential`, `manual_steps` and `cosine`; checks and
their messages are the API's. Each function returns a scalar float32 tensor `learning_rate`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.learning_rates.cosine import Cosine
from tf_frame.learning_rates.exponential import Exponential
from tf_frame.learning_rates.multi_steps import ManualSteps
from tf_frame.plugin.training_contracts import ScheduleContext


def exponential_decay_with_burnin(
    global_step: Any,
    learning_rate_base: float,
    learning_rate_decay_steps: int,
    learning_rate_decay_factor: float,
    burnin_learning_rate: float = 0.0,
    burnin_steps: int = 0,
    min_learning_rate: float = 0.0,
    staircase: bool = True,
) -> Any:
    """Another rate for the first steps, then exponential decay.

    The decay counts from the end of the burn-in, as in the API's last version; its first versions
    counted from step 0.

    Args:
      global_step: scalar integer tensor or variable.
      learning_rate_base: the rate at the beginning of the decay.
      learning_rate_decay_steps: steps per decay.
      learning_rate_decay_factor: factor on the rate per decay.
      burnin_learning_rate: the rate of the burn-in; 0: `learning_rate_base`.
      burnin_steps: number of steps of the burn-in.
      min_learning_rate: lower bound of the rate.
      staircase: decay once per interval, not a little in every step.
    """
    step = _float(global_step)
    decayed = _exponential(
        step - burnin_steps,
        learning_rate_base,
        learning_rate_decay_steps,
        learning_rate_decay_factor,
        min_learning_rate,
        staircase,
    )
    first = max(burnin_learning_rate or learning_rate_base, min_learning_rate)
    return tf.where(step < burnin_steps, first, decayed, name="learning_rate")


def exponential_decay_with_warmup(
    global_step: Any,
    learning_rate_base: float,
    learning_rate_decay_steps: int,
    learning_rate_decay_factor: float,
    warmup_learning_rate: float = 0.0,
    warmup_steps: int = 0,
    min_learning_rate: float = 0.0,
    staircase: bool = True,
) -> Any:
    """A linear rise to the base rate, then exponential decay that counts from the end of the rise.

    Args:
      global_step: scalar integer tensor or variable.
      learning_rate_base: the rate at the beginning of the decay.
      learning_rate_decay_steps: steps per decay.
      learning_rate_decay_factor: factor on the rate per decay.
      warmup_learning_rate: the rate at step 0.
      warmup_steps: steps of the rise; 0: none, where the API divided by 0.
      min_learning_rate: lower bound of the rate after the rise.
      staircase: decay once per interval, not a little in every step.

    Raises:
      ValueError: the rate falls in the warm-up.
    """
    if learning_rate_base < warmup_learning_rate:
        raise ValueError("learning_rate_base must be larger or equal to warmup_learning_rate.")
    step = _float(global_step)
    decayed = _exponential(
        step - warmup_steps,
        learning_rate_base,
        learning_rate_decay_steps,
        learning_rate_decay_factor,
        min_learning_rate,
        staircase,
    )
    slope = (learning_rate_base - warmup_learning_rate) / max(warmup_steps, 1)
    rising = warmup_learning_rate + slope * step
    return tf.where(step < warmup_steps, rising, decayed, name="learning_rate")


def manual_stepping(
    global_step: Any, boundaries: Sequence[int], rates: Sequence[float], warmup: bool = False
) -> Any:
    """Constant rates, each from a boundary on.

    Args:
      global_step: scalar integer tensor or variable.
      boundaries: first step of each rate but the first; may be empty.
      rates: one more than boundaries.
      warmup: rise linearly from the first rate at step 0 to the second at the first boundary.

    Raises:
      ValueError: boundaries that are not integers or do not increase, a rate that is no float, or
        a wrong number of rates.
    """
    if any(not isinstance(boundary, int) or boundary < 0 for boundary in boundaries):
        raise ValueError("boundaries must be a list of positive integers")
    if any(after <= before for before, after in itertools.pairwise(boundaries)):
        raise ValueError("Entries in boundaries must be strictly increasing.")
    if any(not isinstance(rate, float) for rate in rates):
        raise ValueError("Learning rates must be floats")
    if len(rates) != len(boundaries) + 1:
        raise ValueError(
            "Number of provided learning rates must exceed number of boundary points by exactly 1."
        )
    if boundaries and boundaries[0] == 0:
        raise ValueError("First step cannot be zero.")
    if not boundaries:
        return tf.constant(rates[0], name="learning_rate")
    params = ManualSteps.Params(
        boundaries=tuple(boundaries), learning_rates=tuple(rates[1:]), warmup=warmup
    )
    schedule = ManualSteps(params=params, context=_context(rates[0]))
    return tf.identity(schedule(_float(global_step)), name="learning_rate")


def cosine_decay_with_warmup(
    global_step: Any,
    learning_rate_base: float,
    total_steps: int,
    warmup_learning_rate: float = 0.0,
    warmup_steps: int = 0,
    hold_base_rate_steps: int = 0,
) -> Any:
    """A linear rise, then `learning_rate_base`, then half a cosine wave down to 0.

    Args:
      global_step: scalar integer tensor or variable.
      learning_rate_base: the highest rate.
      total_steps: the rate is 0 from this step on.
      warmup_learning_rate: the rate at step 0.
      warmup_steps: steps of the rise.
      hold_base_rate_steps: steps at `learning_rate_base`.

    Raises:
      ValueError: the rate falls in the warm-up, or it is longer than all steps.
    """
    if learning_rate_base < warmup_learning_rate:
        raise ValueError("learning_rate_base must be larger or equal to warmup_learning_rate.")
    if total_steps < warmup_steps:
        raise ValueError("total_steps must be larger or equal to warmup_steps.")
    params = Cosine.Params(
        decay_steps=total_steps,
        hold_steps=hold_base_rate_steps,
        warmup_steps=warmup_steps,
        warmup_learning_rate=warmup_learning_rate,
    )
    schedule = Cosine(params=params, context=_context(learning_rate_base))
    return tf.identity(schedule(_float(global_step)), name="learning_rate")


def _exponential(
    step: Any, base: float, decay_steps: int, decay_factor: float, least: float, staircase: bool
) -> Any:
    params = Exponential.Params(
        decay_factor=decay_factor,
        decay_steps=decay_steps,
        staircase=staircase,
        min_learning_rate=least,
    )
    return Exponential(params=params, context=_context(base))(tf.maximum(step, 0.0))


def _context(learning_rate: float) -> ScheduleContext:
    return ScheduleContext(learning_rate=learning_rate, num_steps=1)


def _float(global_step: Any) -> Any:
    return tf.cast(tf.convert_to_tensor(global_step), tf.float32)
