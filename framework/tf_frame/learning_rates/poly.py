"""Polynomial decay: `poly` with the defaults of DeepLab, `polynomial` with those of slim."""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.learning_rates.context import decay_length
from tf_frame.plugin.training_contracts import LearningRate


class Poly(LearningRate):
    """`(learning_rate - end) * (1 - step / decay_steps) ^ power + end`.

    The policy `poly` of research/deeplab/utils/train_utils.py.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule; defaults of DeepLab's train.py."""

        power: float = option(0.9, "exponent; 1: linear, above 1: steep at first", min=0)
        decay_steps: int = option(
            0, "steps until end_learning_rate; 0: by decay_epochs, else all of training", min=0
        )
        decay_epochs: float = option(
            0.0, "epochs until end_learning_rate; 0: see decay_steps", min=0
        )
        end_learning_rate: float = option(0.0, "learning rate after the decay", min=0)
        cycle: bool = option(
            False, "after the decay, restart with a decay of twice, three times ... the length"
        )

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        params = self.params
        return tf.train.polynomial_decay(
            self.context.learning_rate,
            step,
            decay_length(self.context, steps=params.decay_steps, epochs=params.decay_epochs),
            end_learning_rate=params.end_learning_rate,
            power=params.power,
            cycle=params.cycle,
        )


class Polynomial(Poly):
    """`poly` with the defaults of slim's image classifier."""

    @dataclasses.dataclass(frozen=True)
    class Params(Poly.Params):
        """Options of the schedule; power and end of research/slim/train_image_classifier.py.

        slim decays over two epochs; here the decay takes all of training unless `decay_epochs` or
        `decay_steps` is set.
        """

        power: float = option(1.0, "exponent; 1: linear, above 1: steep at first", min=0)
        end_learning_rate: float = option(1e-4, "learning rate after the decay", min=0)
