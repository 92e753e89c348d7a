"""The learning rate `step`: multiplied by a factor every so many steps, as in DeepLab."""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.plugin.training_contracts import LearningRate


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

        return tf.train.exponential_decay(
            self.context.learning_rate,
            step,
            self.params.decay_steps,
            self.params.decay_factor,
            staircase=True,
        )
