"""The learning rates `exponential`, as in slim and the Inception trainer, and `step` of DeepLab."""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.context import decay_length
from tf_frame.plugin.training_contracts import LearningRate, ScheduleContext


class Exponential(LearningRate):
    """`learning_rate * decay_factor ^ (step / decay_steps)`.

    `min_learning_rate` is an option of object_detection's exponential_decay_with_burnin
    (utils/learning_schedules.py).

    Raises:
      ConfigError: steps and epochs are both 0, or the steps per epoch are unknown.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule; defaults of slim's classifier and the Inception trainer."""

        decay_factor: float = option(0.94, "factor on the learning rate per decay", min=0)
        decay_steps: int = option(0, "steps per decay; 0: by decay_epochs", min=0)
        decay_epochs: float = option(2.0, "epochs per decay, unless decay_steps is given", min=0)
        staircase: bool = option(True, "decay once per interval, not a little in every step")
        min_learning_rate: float = option(0.0, "lower bound of the learning rate", min=0)

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        if not (params.decay_steps or params.decay_epochs):
            raise ConfigError(
                "--schedule.decay_steps and --schedule.decay_epochs are both 0; give one of them"
            )
        self.decay_steps = decay_length(
            context, steps=params.decay_steps, epochs=params.decay_epochs
        )
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        params, base = self.params, self.context.learning_rate
        decayed = tf.train.exponential_decay(
            base, step, self.decay_steps, params.decay_factor, staircase=params.staircase
        )
        return tf.maximum(decayed, params.min_learning_rate)


class Step(LearningRate):
    """`learning_rate * decay_factor ^ floor(step / decay_steps)`.

    The policy `step` of research/deeplab/utils/train_utils.py.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule; defaults of DeepLab's train.py."""

        decay_factor: float = option(0.1, "factor on the learning rate per decay", min=0)
        decay_steps: int = option(2000, "steps per decay", min=1)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        params, base = self.params, self.context.learning_rate
        return tf.train.exponential_decay(
            base, step, params.decay_steps, params.decay_factor, staircase=True
        )
