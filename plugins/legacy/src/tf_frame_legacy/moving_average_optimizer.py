"""`MovingAverageOptimizer`, as of tf.contrib.opt: averages the variables after each update."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.graph_edits import switch_branches


class MovingAverageOptimizer(tf.train.Optimizer):
    """Applies gradients by another optimizer, then moves the averages of what they changed.

    The average of `X` is the variable `X/ExponentialMovingAverage`, which checkpoints hold beside
    `X`; `tf.train.ExponentialMovingAverage(0.0).variables_to_restore()` reads it in place of `X`.

    Args:
      opt: the other optimizer.
      average_decay: share of the old average in the new one.
    """

    def __init__(self, opt: Any, average_decay: float = 0.9999) -> None:
        super().__init__(use_locking=False, name="MovingAverage")
        self._optimizer = opt
        self._average = tf.train.ExponentialMovingAverage(average_decay)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradsAndVars:
        pairs: GradsAndVars = self._optimizer.compute_gradients(*args, **kwargs)
        return pairs

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        update = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        changed = [variable for gradient, variable in pairs if gradient is not None]
        # Branches that are functions cannot hold reference variables.
        with tf.control_dependencies([update]), switch_branches():
            averages = self._average.apply(changed)
        return tf.group(update, averages, name="train_with_avg")

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> Any:
        return self._optimizer.get_slot_names()

    def variables(self) -> Any:
        return self._optimizer.variables()
