"""LAMB as a `tf.compat.v1.train.Optimizer`; the plugin is in `lamb`."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.optimizers.adamw_update import AdamWOptimizer
from tf_frame.optimizers.name_patterns import NamePatterns


class LambOptimizer(AdamWOptimizer):
    """Algorithm 2 of You et al. (arXiv:1904.00962), with the identity for phi.

    Args:
      unscaled: variables whose step is not scaled.
      **others: see `AdamWOptimizer`.
    """

    def __init__(self, *, unscaled: NamePatterns, **others: Any) -> None:
        super().__init__(name="LAMB", **others)
        self._unscaled = unscaled

    def _create_slots(self, var_list: Any) -> None:
        if self._unscaled is not self._excluded:
            self._unscaled.warn_unmatched([variable.op.name for variable in var_list])
        super()._create_slots(var_list)

    def _change(self, direction: Any, variable: Any) -> Any:
        change = super()._change(direction, variable)
        if self._unscaled.match(variable.op.name):
            return change
        return _trust_ratio(tf.norm(variable), tf.norm(change)) * change


def _trust_ratio(of_variable: Any, of_change: Any) -> Any:
    """The first norm over the second; 1 where one of them is 0.

    A variable that starts at zero could else never leave it.
    """
    both = (of_variable > 0) & (of_change > 0)
    return tf.where(both, of_variable / of_change, tf.ones_like(of_variable))
