"""`LARSOptimizer`: layer-wise rates for large batches (You et al., arXiv:1708.03888)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.opt.apply import apply_step


class LARSOptimizer(tf.train.MomentumOptimizer):
    """Momentum with a rate in proportion to the norm of a variable over that of its gradient.

    The sum of steps of `X` is `X/LARSOptimizer`. A sparse gradient takes a step of momentum alone,
    without weight decay.

    Args:
      learning_rate: factor of all rates; a number, tensor or function.
      momentum: share of the sum of steps that is kept.
      weight_decay: L2 penalty.
      eeta: LARS coefficient of the paper.
      epsilon: added to the denominator of the rate.
      name: name of slots and operations.
      skip_list: parts of names of variables without scaling and penalty, such as `bias`.
      use_nesterov: Nesterov momentum.

    Raises:
      ValueError: negative `momentum` or `weight_decay`.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list = tuple(skip_list or ())

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """Returns the rate of a variable and its gradient with the penalty."""
        rate = tf.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        if any(part in var.name for part in self._skip_list):
            return rate, grad
        size, grad_size = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        ratio = self._eeta * size / (grad_size + self._weight_decay * size + self._epsilon)
        ratio = tf.where((size > 0) & (grad_size > 0), ratio, tf.ones_like(ratio))
        return rate * ratio, grad + self._weight_decay * var

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        return apply_step(
            "ApplyMomentum",
            var,
            {"accum": self.get_slot(var, "momentum")},
            {"lr": 1.0, "momentum": self._momentum_tensor},
            grad * rate,
            use_nesterov=self._use_nesterov,
        )

    _resource_apply_dense = _apply_dense
