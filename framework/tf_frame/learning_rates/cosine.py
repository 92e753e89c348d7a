"""The learning rate `cosine`: optional warm-up and hold, then cosine decay."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.context import decay_length
from tf_frame.plugin.training_contracts import LearningRate, ScheduleContext


class Cosine(LearningRate):
    """Warm-up, hold, and half a cosine wave down (Loshchilov and Hutter, arXiv:1608.03983).

    The values are the same as in `cosine_decay_with_warmup` of object_detection's
    utils/learning_schedules.py and, without warm-up and hold, in DeepLab's policy `cosine`. A hold
    that leaves no steps for the decay lasts until the end; then the learning rate falls at once.

    Raises:
      ConfigError: the warm-up is longer than all steps, or the learning rate falls in it.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule; names and defaults of object_detection."""

        decay_steps: int = option(
            0, "steps with warm-up and hold; 0: by decay_epochs, else all of training", min=0
        )
        decay_epochs: float = option(0.0, "epochs until the end; 0: see decay_steps", min=0)
        end_learning_rate: float = option(0.0, "learning rate after the decay", min=0)
        hold_steps: int = option(0, "steps at --learning_rate before the decay", min=0)
        warmup_steps: int = option(0, "steps of a linear rise at the beginning", min=0)
        warmup_learning_rate: float = option(
            0.0, "learning rate at the beginning of the rise", min=0
        )

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        end = decay_length(context, steps=params.decay_steps, epochs=params.decay_epochs)
        self.first = params.warmup_steps + params.hold_steps
        self.end, self.length = end, end - self.first
        if params.warmup_steps > end:
            raise ConfigError(
                f"--schedule.warmup_steps {params.warmup_steps} are more than the {end} steps of "
                "the cosine decay; lower them, or raise --schedule.decay_steps"
            )
        if params.warmup_steps and params.warmup_learning_rate > context.learning_rate:
            raise ConfigError(
                f"--schedule.warmup_learning_rate {params.warmup_learning_rate} is above "
                f"--learning_rate {context.learning_rate}; a warm-up rises to it"
            )
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        base, end = self.context.learning_rate, self.params.end_learning_rate
        if self.length > 0:
            done = tf.clip_by_value((step - self.first) / self.length, 0.0, 1.0)
        else:
            done = tf.cast(step > self.end, tf.float32)
        rate = end + (base - end) * 0.5 * (1.0 + tf.cos(math.pi * done))
        if not self.params.warmup_steps:
            return rate
        start, steps = self.params.warmup_learning_rate, self.params.warmup_steps
        return tf.where(step < steps, start + (base - start) * step / steps, rate)
