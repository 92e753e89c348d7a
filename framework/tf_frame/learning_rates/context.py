"""Converts epochs to steps for learning-rate schedules, without importing TensorFlow.

A decay in epochs fits any batch size and number of workers. `tf-frame plugins show`, which must be
quick, imports the schedules, and they import this module.
"""

from __future__ import annotations

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.plugin.training_contracts import ScheduleContext

# Rounds 2.9999999999999996, the result of an inexact division, up to 3 steps.
_ROUNDING = 1e-6


def schedule_context(
    config: RunOptions, num_examples: int | None, *, batches_per_step: int = 1
) -> ScheduleContext:
    """Returns the facts about a run that a schedule needs.

    A step uses the batch of one worker, or with `sync_replicas` the batches of
    `replicas_to_aggregate` workers, as in the Inception trainer and slim.

    Args:
      config: batch size, clones, replicas, steps and warm-up.
      num_examples: training examples per epoch; None if unknown.
      batches_per_step: number of batches that `accumulate` combines into a step.
    """
    per_step = config.update_batch_size * batches_per_step
    return ScheduleContext(
        learning_rate=config.learning_rate,
        num_steps=max(config.max_steps - skipped_steps(config), 1),
        steps_per_epoch=num_examples / per_step if num_examples else None,
    )


def skipped_steps(config: RunOptions) -> int:
    """Returns the number of warm-up steps that the schedule does not count."""
    return config.warmup_steps if config.decay_start == "after_warmup" else 0


def decay_length(context: ScheduleContext, *, steps: int, epochs: float = 0.0) -> int:
    """Returns the steps of a decay: `steps`, or else of `epochs`, or else of the run.

    Raises:
      ConfigError: the decay is in epochs, and the steps per epoch are unknown.
    """
    if steps:
        return steps
    return steps_in(epochs, context) if epochs else context.num_steps


def steps_in(epochs: float, context: ScheduleContext) -> int:
    """Returns the number of steps of some epochs, at least 1.

    It is rounded down as in slim and in the Inception trainer
    (`decay_steps = int(num_samples / batch_size * num_epochs_per_decay)`).

    Raises:
      ConfigError: the steps per epoch are unknown.
    """
    if context.steps_per_epoch is None:
        raise ConfigError(
            f"--schedule.decay_epochs {epochs}: the input does not give its number of training "
            "examples, so steps per epoch are unknown; give --schedule.decay_steps"
        )
    return max(int(context.steps_per_epoch * epochs + _ROUNDING), 1)
