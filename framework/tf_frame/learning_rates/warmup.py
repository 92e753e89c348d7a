"""`learning_rate`: the learning rate of a run as a tensor, first warm-up, then any schedule.

During warm-up the steps are small, because the gradients of new layers are large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.learning_rates.context import skipped_steps
from tf_frame.plugin.origin import wrong_result


def learning_rate(schedule: Callable[[Any], Any], *, config: RunOptions, global_step: Any) -> Any:
    """Builds the learning rate of a run.

    DeepLab's slow start is the warm-up `constant`, its burn-in the warm-up `linear`
    (`get_model_learning_rate`, research/deeplab/utils/train_utils.py). Until 2020 its decay
    counted from step 0, as with `--decay_start step_0`.

    Args:
      schedule: maps a step, a float32 scalar, to a learning rate.
      config: the warm-up, and the step at which the schedule begins.
      global_step: scalar integer tensor or variable.

    Returns:
      A scalar float32 tensor named `learning_rate`.

    Raises:
      PluginError: the schedule did not return a floating-point scalar.
    """
    step = tf.cast(tf.convert_to_tensor(global_step), tf.float32)
    first = tf.maximum(step - skipped_steps(config), 0.0)
    scheduled = _scalar(schedule(first), schedule)
    if not config.warmup_steps:
        return tf.identity(scheduled, name="learning_rate")
    start, end = config.warmup_learning_rate, config.learning_rate
    warm = _WARMUPS[config.warmup](start, end, step / config.warmup_steps)
    return tf.where(step < config.warmup_steps, warm, scheduled, name="learning_rate")


def _scalar(rate: Any, schedule: Any) -> Any:
    """Converts the result of a schedule, maybe a plugin's, to a float32 scalar."""
    try:
        tensor = tf.convert_to_tensor(rate)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.shape.rank != 0 or not tensor.dtype.is_floating:
        raise wrong_result(schedule, "__call__", rate, "a floating-point scalar")
    return tf.cast(tensor, tf.float32)


# Functions of the first learning rate, the last one, and the finished share of the warm-up.
_WARMUPS: dict[str, Callable[[float, float, Any], Any]] = {
    "constant": lambda start, end, done: tf.fill(tf.shape(done), start),
    "linear": lambda start, end, done: start + (end - start) * done,
    "exponential": lambda start, end, done: start * tf.pow(end / start, done),
}
