"""Optimizers by name."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig


def make_optimizer(config: RunConfig, learning_rate: Any) -> Any:
    """Builds the `tf.compat.v1.train.Optimizer` that the run options name."""
    if config.optimizer == "sgd":
        return tf.train.GradientDescentOptimizer(learning_rate)
    if config.optimizer == "momentum":
        return tf.train.MomentumOptimizer(learning_rate, config.momentum)
    return tf.train.AdamOptimizer(learning_rate, epsilon=config.adam_epsilon)
