"""tf.contrib.mixed_precision: scales the loss, for gradients in float16.

manager = mixed_precision.FixedLossScaleManager(128)
optimizer = mixed_precision.LossScaleOptimizer(tf.train.AdamOptimizer(1e-3), manager)
"""

from __future__ import annotations

import abc
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import switch_branches


class LossScaleManager(abc.ABC):
    """Base class: holds the factor of the loss."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """Returns the factor, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Returns the operation that changes it after a step.

        Args:
          finite_grads: boolean scalar: whether all gradients of the step were finite.
        """


class FixedLossScaleManager(LossScaleManager):
    """A factor that stays as it is, at least 1.

    Raises:
      ValueError: a smaller factor.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows after finite steps and falls after others.

    Its variables are `loss_scale`, `good_steps` and `bad_steps`.

    Args:
      init_loss_scale: the first factor.
      incr_every_n_steps: finite steps in a row before it grows.
      decr_every_n_nan_or_inf: other steps before it falls.
      incr_ratio, decr_ratio: factors of the factor, which stays finite and at least 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._limits = incr_every_n_steps, decr_every_n_nan_or_inf
        self._ratios = incr_ratio, decr_ratio
        self._loss_scale = tf.Variable(float(init_loss_scale), trainable=False, name="loss_scale")
        self._good_steps = tf.Variable(0, trainable=False, name="good_steps")
        self._bad_steps = tf.Variable(0, trainable=False, name="bad_steps")

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        scale, good, bad = map(
            tf.convert_to_tensor, (self._loss_scale, self._good_steps, self._bad_steps)
        )
        increase = finite_grads & (good + 1 >= self._limits[0])
        decrease = ~finite_grads & (bad + 1 >= self._limits[1])
        larger, smaller = scale * self._ratios[0], tf.maximum(1.0, scale * self._ratios[1])
        larger = tf.where(tf.is_finite(larger), larger, scale)
        changed = tf.where(increase, larger, tf.where(decrease, smaller, scale))
        zero, reset = tf.zeros([], tf.int32), increase | decrease
        good = tf.where(finite_grads & ~reset, good + 1, zero)
        bad = tf.where(reset, zero, tf.where(finite_grads, bad, bad + 1))
        pairs = ((self._loss_scale, changed), (self._good_steps, good), (self._bad_steps, bad))
        with tf.control_dependencies([changed, good, bad]):
            return tf.group(*[v.assign(value, read_value=False) for v, value in pairs])


class LossScaleOptimizer(tf.train.Optimizer):
    """Scales the loss, divides the gradients, and leaves out steps that are not finite.

    Args:
      opt: the optimizer of the step.
      loss_scale_manager: holds the factor.
    """

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(use_locking=False, name="LossScale")
        self._opt, self._loss_scale_manager = opt, loss_scale_manager

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        loss = loss() if callable(loss) else loss
        scale = tf.convert_to_tensor(self._loss_scale_manager.get_loss_scale())
        scaled = loss * tf.cast(scale, loss.dtype.base_dtype)
        pairs = self._opt.compute_gradients(scaled, *args, **kwargs)
        return [(None if g is None else _divided(g, scale), variable) for g, variable in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        values = [getattr(g, "values", g) for g, _ in pairs if g is not None]
        finite = tf.reduce_all([tf.reduce_all(tf.is_finite(value)) for value in values])

        def step() -> Any:
            return self._opt.apply_gradients(pairs, global_step, name)

        # Branches that are functions cannot hold reference variables.
        with switch_branches():
            update = tf.cond(finite, step, tf.no_op)
        with tf.control_dependencies([update]):
            return tf.group(update, self._loss_scale_manager.update_loss_scale(finite))


def _divided(gradient: Any, scale: Any) -> Any:
    inverse = tf.cast(1.0 / scale, gradient.dtype.base_dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * inverse, gradient.indices, gradient.dense_shape)
    return gradient * inverse
