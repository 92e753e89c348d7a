"""How many steps a decay takes: given in steps, in epochs, or by the length of training."""

from __future__ import annotations

from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import ScheduleContext

# Keeps 2.9999999999999996, which ought to be 3 steps, from becoming 2.
_ROUNDING = 1e-6


def steps_in(epochs: float, context: ScheduleContext) -> int:
    """Steps that so many passes over the training data take, rounded down, at least 1.

    The rounding is that of slim and of the Inception trainer
    (`decay_steps = int(num_samples / batch_size * num_epochs_per_decay)`).

    Raises:
      ConfigError: the input does not say how many examples it has.
    """
    if context.steps_per_epoch is None:
        raise ConfigError(
            f"--schedule.decay_epochs {epochs}: the input does not say how many training "
            "examples it has, so steps per epoch are unknown; give --schedule.decay_steps"
        )
    return max(int(context.steps_per_epoch * epochs + _ROUNDING), 1)


def decay_length(context: ScheduleContext, *, steps: int, epochs: float = 0.0) -> int:
    """Steps of a decay: `steps`, else those of `epochs`, else to the end of training.

    Raises:
      ConfigError: it is given in epochs, and steps per epoch are unknown.
    """
    if steps:
        return steps
    return steps_in(epochs, context) if epochs else context.num_steps
