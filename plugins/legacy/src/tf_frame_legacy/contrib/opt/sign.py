"""`AddSignOptimizer` and `PowerSignOptimizer` (Bello et al., arXiv:1709.07417).

They enlarge steps where the gradient has the sign of its moving mean, the slot `m`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.opt.apply import apply_step, scatter


class _SignOptimizer(tf.train.Optimizer):
    """Base class: keeps the mean of gradients, and calls `sign_decay_fn` with the global step."""

    def __init__(
        self,
        learning_rate: Any,
        beta: float,
        sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        if self._sign_decay_fn is not None:
            self._sign_decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)

    def _apply(self, op: str, grad: Any, var: Any, **scalars: Any) -> Any:
        scalars |= {"lr": self._learning_rate, "beta": self._beta, "sign_decay": self._sign_decay}
        slots = {"m": self.get_slot(var, "m")}
        return apply_step(op, var, slots, scalars, grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        mean, beta = self.get_slot(handle, "m"), tf.cast(self._beta, grad.dtype)
        decay = mean.assign(mean * beta, read_value=False)
        with tf.control_dependencies([decay]):
            add = scatter("add", mean, indices, (1 - beta) * grad)
        with tf.control_dependencies([add]):
            signs = tf.sign(grad) * tf.sign(tf.gather(mean, indices))
        factor = self._factor(tf.cast(self._sign_decay, grad.dtype) * signs)
        step = tf.cast(self._learning_rate, grad.dtype) * factor * grad
        return scatter("sub", handle, indices, step)

    def _factor(self, signs: Any) -> Any:
        """Returns the factor of the gradient, from the product of the signs."""
        raise NotImplementedError


class AddSignOptimizer(_SignOptimizer):
    """Steps of `(alpha + decay * sign(g) * sign(m)) * g`.

    Args:
      learning_rate: factor of all steps.
      alpha: factor of the gradient.
      beta: decay of the mean of gradients.
      sign_decay_fn: function of the global step that returns the decay; None: 1.
      use_locking: whether updates lock the variable.
      name: name of slots and operations.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply("ApplyAddSign", grad, var, alpha=self._alpha)

    _resource_apply_dense = _apply_dense

    def _factor(self, signs: Any) -> Any:
        return self._alpha + signs


class PowerSignOptimizer(_SignOptimizer):
    """Steps of `base ** (decay * sign(g) * sign(m)) * g`; see `AddSignOptimizer`."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply("ApplyPowerSign", grad, var, logbase=self._logbase)

    _resource_apply_dense = _apply_dense

    def _factor(self, signs: Any) -> Any:
        return tf.exp(self._logbase * signs)
