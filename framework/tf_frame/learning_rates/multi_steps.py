"""The learning rate `multi_steps`, also `piecewise`: constants between boundaries."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.boundaries import check_boundaries, check_rates
from tf_frame.plugin.contracts import LearningRate, ScheduleContext


@dataclasses.dataclass(frozen=True)
class Params:
    """Options."""

    boundaries: tuple[int, ...] = option((), "last step of each learning rate but the last one")
    learning_rates: tuple[float, ...] = option(
        (), "the learning rates, one more than boundaries", min=0
    )


class MultiSteps(LearningRate):
    """The learning rates given, whatever `--learning_rate` says.

    The policy `multi_steps` of research/deeplab/utils/train_utils.py: a rate
    holds up to and with its boundary, as in `tf.train.piecewise_constant_decay`.

    Raises:
      ConfigError: no boundaries or rates, a wrong number of them, or
        boundaries that do not increase.
    """

    Params: ClassVar[type] = Params

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
