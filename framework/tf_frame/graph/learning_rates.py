"""Learning rates as functions of the global step."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig


def learning_rate(config: RunConfig, global_step: Any) -> Any:
    """Builds the learning rate of a run.

    The slow start and the poly decay are those of DeepLab's second generation
    (research/deeplab/utils/train_utils.py, 2020): decay begins after the slow
    start and, with `decay_steps` 0, ends at `max_steps`.

    Args:
      config: policy and its numbers.
      global_step: scalar integer tensor or variable.

    Returns:
      A scalar float32 tensor.
    """
    step = tf.cast(tf.convert_to_tensor(global_step), tf.float32)
    decayed = _POLICIES[config.learning_rate_policy](config, step)
    if not config.slow_start_steps:
        return tf.identity(decayed, name="learning_rate")
    slow = _slow_start(config, step)
    return tf.where(step < config.slow_start_steps, slow, decayed, name="learning_rate")


def _fixed(config: RunConfig, step: Any) -> Any:
    del step
    return tf.constant(config.learning_rate)


def _poly(config: RunConfig, step: Any) -> Any:
    decay_steps = config.decay_steps or max(config.max_steps - config.slow_start_steps, 1)
    return tf.train.polynomial_decay(
        config.learning_rate,
        tf.maximum(step - config.slow_start_steps, 0),
        decay_steps,
        end_learning_rate=config.end_learning_rate,
        power=config.learning_power,
    )


def _slow_start(config: RunConfig, step: Any) -> Any:
    start = tf.constant(config.slow_start_learning_rate)
    if config.slow_start_burnin == "none":
        return start
    return start + (config.learning_rate - start) * step / config.slow_start_steps


_POLICIES = {"fixed": _fixed, "poly": _poly}
