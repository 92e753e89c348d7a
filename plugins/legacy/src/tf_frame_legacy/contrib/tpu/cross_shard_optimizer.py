"""`CrossShardOptimizer`, the optimizer that sums gradients over the shards of a TPU."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class CrossShardOptimizer(tf.tpu.CrossShardOptimizer):  # type: ignore[misc]
    """Behaves as the optimizer that it wraps: there is one shard, which has no sum.

    TensorFlow's own class adds an operation to the graph that only a TPU can run.

    Args:
      opt: the optimizer.
      reduction: `tf.losses.Reduction.SUM` or `MEAN`; without effect.
      name: name of the optimizer.
      group_assignment: list of lists of shards; only `[[0]]` fits.

    Raises:
      ValueError: another reduction.
      TypeError: `opt` is a Keras optimizer.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = tf.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        super().__init__(opt, reduction, name, group_assignment)
        self._wrapped = opt

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> Any:
        """Returns the pairs of gradient and variable of the wrapped optimizer."""
        return self._wrapped.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        """Returns the update of the wrapped optimizer."""
        return self._wrapped.apply_gradients(grads_and_vars, global_step, name)
