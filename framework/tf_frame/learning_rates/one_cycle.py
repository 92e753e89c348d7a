"""The learning rate `one_cycle`: rise, fall, and a last fall to near zero (arXiv:1708.07120).

A high peak shortens training; the paper calls this effect super-convergence.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.context import decay_length
from tf_frame.plugin.training_contracts import LearningRate, ScheduleContext

# Shares such as 0.7, 0.2 and 0.1 do not add up to exactly 1 in binary.
_ROUNDING = 1e-9


class OneCycle(LearningRate):
    """Rises to `--learning_rate`, falls by as much, then falls much lower.

    Smith and Topin, Super-Convergence, section 3: "one cycle that is smaller than the total number
    of iterations"; then the rate falls "several orders of magnitude less than the initial learning
    rate".

    Raises:
      ConfigError: the sum of rise and fall is greater than 1.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the schedule; defaults are the proportions of Smith and Topin."""

        decay_steps: int = option(
            0, "steps of the whole cycle; 0: by decay_epochs, else all of training", min=0
        )
        decay_epochs: float = option(0.0, "epochs of the whole cycle; 0: see decay_steps", min=0)
        rise: float = option(0.45, "share of steps in the rise", min=0, max=1)
        fall: float = option(
            0.45, "share of steps in the fall; the rest: annihilation", min=0, max=1
        )
        initial_factor: float = option(
            0.1, "first learning rate, also after the fall, over --learning_rate", min=0, max=1
        )
        final_factor: float = option(1e-3, "last learning rate over --learning_rate", min=0, max=1)
        shape: str = option(
            "linear", "interpolation in the three phases", choices=("linear", "cosine")
        )

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        if params.rise + params.fall > 1 + _ROUNDING:
            raise ConfigError(
                f"--schedule.rise {params.rise} and --schedule.fall {params.fall} are shares of "
                "the steps; together they must be 1 or less"
            )
        self.length = decay_length(context, steps=params.decay_steps, epochs=params.decay_epochs)
        super().__init__(params=params, context=context)

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        params, peak = self.params, self.context.learning_rate
        low, last = peak * params.initial_factor, peak * params.final_factor
        top, bottom = self.length * params.rise, self.length * (params.rise + params.fall)
        rate = self._between(step, (bottom, low), (float(self.length), last))
        rate = tf.where(step < bottom, self._between(step, (top, peak), (bottom, low)), rate)
        return tf.where(step < top, self._between(step, (0.0, low), (top, peak)), rate)

    def _between(self, step: Any, start: tuple[float, float], end: tuple[float, float]) -> Any:
        """Interpolates between two pairs (step, rate); constant before and after."""
        import tensorflow.compat.v1 as tf

        if end[0] <= start[0]:
            return tf.fill(tf.shape(step), start[1])
        done = tf.clip_by_value((step - start[0]) / (end[0] - start[0]), 0.0, 1.0)
        if self.params.shape == "cosine":
            done = 0.5 - 0.5 * tf.cos(math.pi * done)
        return start[1] + (end[1] - start[1]) * done
