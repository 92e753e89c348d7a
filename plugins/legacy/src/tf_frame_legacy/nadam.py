"""`NadamOptimizer` of tf.contrib.opt: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


class NadamOptimizer(tf.train.AdamOptimizer):
    """Adam with Nesterov's momentum; arguments, slots and names are those of Adam.

    Dozat 2015, "Incorporating Nesterov Momentum into Adam", without its schedule of beta1. Sparse
    gradients change only the rows that they have.
    """

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        arguments = self._arguments(grad, var.dtype.base_dtype)
        return tf.raw_ops.ApplyAdam(var=var, m=m, v=v, **arguments).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        arguments = self._arguments(grad, grad.dtype.base_dtype)
        return tf.raw_ops.ResourceApplyAdam(var=var.handle, m=m.handle, v=v.handle, **arguments)

    def _arguments(self, grad: Any, dtype: Any) -> dict[str, Any]:
        beta1_power, beta2_power = self._get_beta_accumulators()
        numbers = {
            "beta1_power": beta1_power,
            "beta2_power": beta2_power,
            "lr": self._lr_t,
            "beta1": self._beta1_t,
            "beta2": self._beta2_t,
            "epsilon": self._epsilon_t,
        }
        tensors = {name: tf.cast(number, dtype) for name, number in numbers.items()}
        return {**tensors, "grad": grad, "use_locking": self._use_locking, "use_nesterov": True}

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        numbers = self._arguments(grad, var.dtype.base_dtype)
        beta1, beta2 = numbers["beta1"], numbers["beta2"]
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_new = self._decayed(m, beta1, grad * (1 - beta1), indices, scatter_add)
        v_new = self._decayed(v, beta2, tf.square(grad) * (1 - beta2), indices, scatter_add)
        rate = numbers["lr"] * tf.sqrt(1 - numbers["beta2_power"]) / (1 - numbers["beta1_power"])
        ahead = (1 - beta1) * grad + beta1 * tf.gather(m_new, indices)
        size = tf.sqrt(tf.gather(v_new, indices)) + numbers["epsilon"]
        return tf.group(scatter_add(var, indices, -rate * ahead / size), m_new, v_new)

    def _decayed(
        self, slot: Any, beta: Any, part: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        decayed = tf.assign(slot, slot * beta, use_locking=self._use_locking)
        with tf.control_dependencies([decayed]):
            return scatter_add(slot, indices, part)
