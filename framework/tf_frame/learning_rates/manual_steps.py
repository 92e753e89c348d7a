"""The learning rate `manual_steps`: piecewise constant, as in object_detection.

Its configurations name the first step of each rate; those of DeepLab (`multi_steps`) the last one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.multi_steps import check_boundaries, check_rates
from tf_frame.plugin.training_contracts import LearningRate, ScheduleContext


class ManualSteps(LearningRate):
    """`--learning_rate` before the first boundary, then a new rate from each boundary on.

    `manual_stepping` of object_detection's utils/learning_schedules.py. Unlike in
    `multi_steps`, a rate applies from its boundary on, not from the step after it.

    Raises:
      ConfigError: no boundaries, a wrong number of rates, or boundaries that do not
        increase.
    """

    check_options: ClassVar[Mapping[str, Any]] = {
        "boundaries": (5, 10),
        "learning_rates": (0.1, 0.01),
    }

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule."""

        boundaries: tuple[int, ...] = option((), "first step of each new learning rate")
        learning_rates: tuple[float, ...] = option(
            (), "the new learning rates, one per boundary; before the first: --learning_rate", min=0
        )
        warmup: bool = option(False, "rise or fall linearly to the first new learning rate")

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        if not params.boundaries:
            raise ConfigError(
                "Empty learning rate schedule. Give --schedule.boundaries and "
                "--schedule.learning_rates, or take --schedule fixed"
            )
        check_boundaries(params.boundaries)
        check_rates(params.learning_rates, len(params.boundaries), "one per boundary")
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        boundaries = [float(boundary) for boundary in self.params.boundaries]
        rates = tf.constant([self.context.learning_rate, *self.params.learning_rates])
        passed = tf.reduce_sum(tf.cast(step >= boundaries, tf.int32))
        rate = tf.gather(rates, passed)
        if not self.params.warmup:
            return rate
        rise = (rates[1] - rates[0]) * step / boundaries[0]
        return tf.where(step < boundaries[0], rates[0] + rise, rate)
