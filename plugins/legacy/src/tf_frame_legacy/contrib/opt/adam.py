"""Variants of Adam with its variables: `VARIABLE/Adam`, `VARIABLE/Adam_1`, the powers of betas.

A dense gradient takes one step of TensorFlow's operations; a sparse one changes rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.opt.apply import apply_step, scatter


class NadamOptimizer(tf.train.AdamOptimizer):
    """Adam with Nesterov momentum (Dozat, 2016).

    A sparse gradient decays the moments of all rows, and moves its own rows.
    """

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return apply_step(
            "ApplyAdam",
            var,
            {"m": self.get_slot(var, "m"), "v": self.get_slot(var, "v")},
            {
                "beta1_power": beta1_power,
                "beta2_power": beta2_power,
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
            grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = _corrected(self, grad.dtype)
        mean = self._decayed(handle, "m", beta1, indices, (1 - beta1) * grad)
        square = self._decayed(handle, "v", beta2, indices, (1 - beta2) * tf.square(grad))
        ahead = (1 - beta1) * grad + beta1 * mean
        step = -rate * ahead / (tf.sqrt(square) + epsilon)
        return scatter("add", handle, indices, step)

    def _decayed(self, var: Any, name: str, beta: Any, indices: Any, change: Any) -> Any:
        """Decays a slot and adds to its rows; returns the rows."""
        slot = self.get_slot(var, name)
        decay = slot.assign(slot * beta, read_value=False)
        with tf.control_dependencies([decay]):
            add = scatter("add", slot, indices, change)
        with tf.control_dependencies([add]):
            return tf.gather(slot, indices)


class LazyAdamOptimizer(tf.train.AdamOptimizer):
    """Adam that changes, for a sparse gradient, only the moments of the rows in it."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = _corrected(self, grad.dtype)
        slots = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        mean = beta1 * tf.gather(slots[0], indices) + (1 - beta1) * grad
        square = beta2 * tf.gather(slots[1], indices) + (1 - beta2) * tf.square(grad)
        # The rows are read before they change.
        with tf.control_dependencies([mean, square]):
            updates = [
                scatter("update", slots[0], indices, mean),
                scatter("update", slots[1], indices, square),
                scatter("sub", handle, indices, rate * mean / (tf.sqrt(square) + epsilon)),
            ]
        return tf.group(*updates)


class AdaMaxOptimizer(tf.train.AdamOptimizer):
    """Adam with the infinity norm (Kingma and Ba, arXiv:1412.6980, section 7).

    Its variables are those of Adam with the name `AdaMax`, without a power of beta2; a sparse
    gradient changes only its rows.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        return self._get_non_slot_variable("beta1_power", graph=tf.get_default_graph())

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return apply_step(
            "ApplyAdaMax",
            var,
            {"m": self.get_slot(var, "m"), "v": self.get_slot(var, "v")},
            {
                "beta1_power": self._get_beta_accumulators(),
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
            grad,
            use_locking=self._use_locking,
        )

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        power, rate, beta1, beta2, epsilon = (
            tf.cast(value, grad.dtype)
            for value in (
                self._get_beta_accumulators(),
                self._lr_t,
                self._beta1_t,
                self._beta2_t,
                self._epsilon_t,
            )
        )
        slots = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        mean = beta1 * tf.gather(slots[0], indices) + (1 - beta1) * grad
        largest = tf.maximum(beta2 * tf.gather(slots[1], indices), tf.abs(grad))
        step = -rate / (1 - power) * (mean / (largest + epsilon))
        with tf.control_dependencies([mean, largest]):
            return tf.group(
                scatter("update", slots[0], indices, mean),
                scatter("update", slots[1], indices, largest),
                scatter("add", handle, indices, step),
            )

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        power = self._get_beta_accumulators()
        with tf.control_dependencies(update_ops), tf.colocate_with(power):
            update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, update, name=name_scope)


def _corrected(optimizer: Any, dtype: Any) -> list[Any]:
    """Returns Adam's rate, corrected for the first values of 0, beta1, beta2 and epsilon."""
    beta1_power, beta2_power = (
        tf.cast(power, dtype) for power in optimizer._get_beta_accumulators()
    )
    rate = tf.cast(optimizer._lr_t, dtype) * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    values = (optimizer._beta1_t, optimizer._beta2_t, optimizer._epsilon_t)
    return [rate, *(tf.cast(value, dtype) for value in values)]
