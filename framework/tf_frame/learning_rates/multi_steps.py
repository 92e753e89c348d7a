"""The learning rates `multi_steps` (`piecewise`) and `manual_steps`: constant between boundaries.

A boundary is the last step of a rate in `multi_steps`, and the first in `manual_steps`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.config.values import to_text
from tf_frame.errors import ConfigError
from tf_frame.plugin.training_contracts import LearningRate, ScheduleContext


class MultiSteps(LearningRate):
    """Constant learning rates between boundaries; `--learning_rate` is ignored.

    The policy `multi_steps` of research/deeplab/utils/train_utils.py: a rate applies
    up to and including its boundary, as in `tf.train.piecewise_constant_decay`.

    Raises:
      ConfigError: no boundaries or rates, a wrong number of rates, or boundaries that
        do not increase.
    """

    check_options: ClassVar[Mapping[str, Any]] = {
        "boundaries": (5, 10),
        "learning_rates": (0.1, 0.01, 0.001),
    }

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule."""

        boundaries: tuple[int, ...] = option(
            (), "last step of each learning rate except the final one"
        )
        learning_rates: tuple[float, ...] = option(
            (), "the learning rates, one more than boundaries", min=0
        )

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        if not (params.boundaries and params.learning_rates):
            raise ConfigError(
                "Must set `boundaries` and `learning_rates` for multi_steps learning rate decay: "
                "--schedule.boundaries 1000,2000 --schedule.learning_rates 0.1,0.01,0.001"
            )
        reason = "one up to each boundary, and one after the last"
        _check(params, len(params.boundaries) + 1, reason)
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.train.piecewise_constant_decay(
            step, [float(b) for b in self.params.boundaries], list(self.params.learning_rates)
        )


class ManualSteps(LearningRate):
    """`--learning_rate` before the first boundary, then a new rate from each boundary on.

    `manual_stepping` of object_detection's utils/learning_schedules.py.

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
        _check(params, len(params.boundaries), "one per boundary")
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


def _check(params: Any, count: int, reason: str) -> None:
    """Checks that boundaries are positive and increase, and that there are `count` rates."""
    for before, after in itertools.pairwise((0, *params.boundaries)):
        if after <= before:
            raise ConfigError(
                f"--schedule.boundaries {to_text(params.boundaries)}: each must be greater than "
                f"the one before and greater than 0; {after} is not"
            )
    rates = params.learning_rates
    if len(rates) != count:
        raise ConfigError(
            f"--schedule.learning_rates has {len(rates)} values ({to_text(rates)}), "
            f"{count} are needed: {reason}"
        )
