"""A base for optimizers that follow Adam's moments; in TensorFlow, not a plugin.

Not named by an entry point, so it may import TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


class MomentsOptimizer(tf.train.Optimizer):
    """Keeps moving means of gradients and of their squares, corrected for bias.

    Algorithm 1 of Kingma and Ba (arXiv:1412.6980). A subclass defines `_change`.
    Gradients that are `tf.IndexedSlices` count as zero in the other rows, as in
    `tf.train.AdamOptimizer`: moments of all rows decay in every step.

    Args:
      learning_rate: scalar tensor.
      beta1: decay of the mean of gradients.
      beta2: decay of the mean of squared gradients.
      epsilon: added to the root of the second mean.
      name: of the slots and operations.
    """

    def __init__(
        self, *, learning_rate: Any, beta1: float, beta2: float, epsilon: float, name: str
    ) -> None:
        super().__init__(use_locking=False, name=name)
        self._rate = learning_rate
        self._betas = (beta1, beta2)
        self._epsilon = epsilon

    def _change(self, direction: Any, variable: Any) -> Any:
        """What is subtracted from a variable, before the learning rate.

        Args:
          direction: bias-corrected mean gradient over root of mean square, of
            the variable's shape.
          variable: the variable.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define _change()")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        # The same one on every worker, else each would count on a parameter server of its own.
        first = min(var_list, key=lambda variable: variable.name)
        for power, beta in zip(("beta1_power", "beta2_power"), self._betas, strict=True):
            self._create_non_slot_variable(initial_value=beta, name=power, colocate_with=first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        means = [
            self._moved(var, slot, beta, power, value)
            for slot, beta, power, value in zip(
                ("m", "v"), self._betas, self._powers(), (grad, tf.square(grad)), strict=True
            )
        ]
        direction = means[0] / (tf.sqrt(means[1]) + self._epsilon)
        change = tf.cast(self._rate, var.dtype.base_dtype) * self._change(direction, var)
        return tf.group(var.assign_sub(change, read_value=False))

    def _moved(self, var: Any, slot: str, beta: float, power: Any, value: Any) -> Any:
        """Moves one mean towards `value`; returns it corrected for its start at zero."""
        mean = self.get_slot(var, slot)
        moved = beta * tf.convert_to_tensor(mean) + (1 - beta) * value
        with tf.control_dependencies([mean.assign(moved, read_value=False)]):
            return moved / (1 - tf.cast(power, moved.dtype))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rows = tf.cast(tf.shape(handle)[0], indices.dtype)
        return self._apply_dense(tf.math.unsorted_segment_sum(grad, indices, rows), handle)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            updates = [
                power.assign(power * beta, read_value=False)
                for power, beta in zip(self._powers(), self._betas, strict=True)
            ]
        return tf.group(*update_ops, *updates, name=name_scope)

    def _powers(self) -> list[Any]:
        """The variables that hold `beta1 ** t` and `beta2 ** t` at step t, from 1 on."""
        with tf.init_scope():
            graph = tf.get_default_graph()
            names = ("beta1_power", "beta2_power")
            return [self._get_non_slot_variable(name, graph=graph) for name in names]
