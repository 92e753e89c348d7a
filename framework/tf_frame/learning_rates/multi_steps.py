"""The learning rate `multi_steps`, also `piecewise`: constant between boundaries, as in DeepLab."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
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
        check_boundaries(params.boundaries)
        check_rates(
            params.learning_rates,
            len(params.boundaries) + 1,
            "one up to each boundary, and one after the last",
        )
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.train.piecewise_constant_decay(
            step, [float(b) for b in self.params.boundaries], list(self.params.learning_rates)
        )


def check_boundaries(boundaries: Sequence[int]) -> None:
    """Checks the steps at which a learning rate changes.

    Raises:
      ConfigError: the boundaries are not increasing, or not positive.
    """
    wrong = [after for before, after in itertools.pairwise((0, *boundaries)) if after <= before]
    if wrong:
        raise ConfigError(
            f"--schedule.boundaries {to_text(tuple(boundaries))}: each must be greater than the "
            f"one before and greater than 0; {wrong[0]} is not"
        )


def check_rates(rates: Sequence[float], count: int, reason: str) -> None:
    """Checks the number of learning rates.

    Args:
      rates: the learning rates.
      count: the required number.
      reason: the reason for this number, for the message.

    Raises:
      ConfigError: another number of learning rates.
    """
    if len(rates) != count:
        raise ConfigError(
            f"--schedule.learning_rates has {len(rates)} values ({to_text(tuple(rates))}), "
            f"{count} are needed: {reason}"
        )
