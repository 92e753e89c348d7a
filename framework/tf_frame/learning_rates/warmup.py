"""The learning rate of a run: the warm-up, and then the schedule that was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import ScheduleContext


def schedule_context(
    config: RunConfig, num_examples: int | None, *, batches_per_step: int = 1
) -> ScheduleContext:
    """What a schedule is told about a run.

    A step takes the batch of one worker, and with `sync_replicas` the batches of
    `replicas_to_aggregate` workers; the Inception trainer and slim count so too.

    Args:
      config: batch size, clones, replicas, steps and warm-up.
      num_examples: training examples in an epoch; None if unknown.
      batches_per_step: batches whose gradients are accumulated for one step.
    """
    per_epoch = None
    if num_examples:
        per_epoch = num_examples / _examples_per_step(config, batches_per_step)
    return ScheduleContext(
        learning_rate=config.learning_rate,
        num_steps=max(config.max_steps - _skipped(config), 1),
        steps_per_epoch=per_epoch,
    )


def _skipped(config: RunConfig) -> int:
    """Steps that the schedule does not see."""
    return config.warmup_steps if config.decay_from == "end_of_warmup" else 0


def _examples_per_step(config: RunConfig, batches_per_step: int) -> int:
    return config.worker_batch_size * config.aggregated_replicas * batches_per_step


def learning_rate(schedule: Callable[[Any], Any], *, config: RunConfig, global_step: Any) -> Any:
    """Builds the learning rate of a run.

    The slow start of DeepLab is the warm-up `constant`, its burn-in the warm-up
    `linear` (`get_model_learning_rate`, research/deeplab/utils/train_utils.py).
    Until 2020 its decay counted from step 0: that is `decay_from` `step_0`.

    Args:
      schedule: maps a step, a float32 scalar, to a learning rate.
      config: the warm-up, and where the schedule begins.
      global_step: scalar integer tensor or variable.

    Returns:
      A scalar float32 tensor called `learning_rate`.

    Raises:
      ConfigError: an exponential warm-up from or to 0.
    """
    step = tf.cast(tf.convert_to_tensor(global_step), tf.float32)
    scheduled = schedule(tf.maximum(step - _skipped(config), 0.0))
    if not config.warmup_steps:
        return tf.identity(scheduled, name="learning_rate")
    warm = _WARMUPS[config.warmup](config, step / config.warmup_steps)
    return tf.where(step < config.warmup_steps, warm, scheduled, name="learning_rate")


def _constant(config: RunConfig, done: Any) -> Any:
    return tf.fill(tf.shape(done), config.warmup_learning_rate)


def _linear(config: RunConfig, done: Any) -> Any:
    start = config.warmup_learning_rate
    return start + (config.learning_rate - start) * done


def _exponential(config: RunConfig, done: Any) -> Any:
    start = config.warmup_learning_rate
    if start <= 0 or config.learning_rate <= 0:
        raise ConfigError(
            "--warmup exponential multiplies the learning rate step by step, so it cannot start "
            f"from or rise to 0: --warmup_learning_rate is {start}, --learning_rate is "
            f"{config.learning_rate}"
        )
    return start * tf.pow(config.learning_rate / start, done)


_WARMUPS: dict[str, Callable[[RunConfig, Any], Any]] = {
    "constant": _constant,
    "linear": _linear,
    "exponential": _exponential,
}
