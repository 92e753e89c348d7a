"""Loss scaling, which keeps small gradients from vanishing in float16.

    loss_scale = LossScale(dynamic=True)
    pairs = optimizer.compute_gradients(loss_scale.scale(loss))
    pairs = loss_scale(pairs)       # as without scaling
    loss_scale.ready()              # whether all gradients are finite

The scale multiplies the loss before differentiation, and divides the gradients (Micikevicius et
al. 2018, https://arxiv.org/abs/1710.03740, section 3.2).
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.gradient_transforms.values import gradient_values, on_values
from tf_frame.plugin import GradientTransform
from tf_frame.plugin.contracts import NoParams

# From NVIDIA's "Training with mixed precision", section "Choosing a scaling factor"; loss scales of
# TensorFlow and PyTorch use the same numbers.
_INITIAL = 2.0**15
_GROWTH_STEPS = 2000
_FACTOR = 2.0


class LossScale(GradientTransform):
    """A factor on the loss, and the gradient transform that divides by the factor.

    It should be the first of the transforms. A dynamic scale is halved, and the step
    skipped, when a gradient is not finite; the scale is doubled after 2000 finite steps.
    Its two variables are part of every checkpoint.
    """

    def __init__(
        self, *, dynamic: bool, initial: float = _INITIAL, growth_steps: int = _GROWTH_STEPS
    ) -> None:
        """Makes the scale in the default graph.

        Args:
          dynamic: whether the scale adapts while training.
          initial: first value of a dynamic scale, or value of a static one.
          growth_steps: finite steps after which a dynamic scale doubles.
        """
        super().__init__(params=NoParams())
        self._growth_steps = growth_steps
        self._ready: Any = None
        self._variables: list[Any] = []
        if dynamic:
            self._variables = [_state("scale", initial), _state("good_steps", 0.0)]
        # Read once: a second read might return the value of the next step.
        self.value = self._variables[0] * 1.0 if dynamic else tf.constant(initial)

    def scale(self, loss: Any) -> Any:
        """Multiplies a loss; returns a tensor of its shape and type."""
        with tf.device(loss.device):
            return loss * tf.cast(self.value, loss.dtype)

    def __call__(self, grads_and_vars: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Divides the gradients by the scale; None stays None, sparse stays sparse."""
        if self._variables:
            self._ready = self._after_update(_all_finite([g for g, _ in grads_and_vars]))
        return [(on_values(gradient, self._unscale), v) for gradient, v in grads_and_vars]

    def ready(self) -> Any:
        """Returns a bool tensor: whether all gradients are finite; None if the scale is static.

        Evaluating the tensor updates the scale.
        """
        return self._ready

    def _unscale(self, values: Any) -> Any:
        return values / tf.cast(self.value, values.dtype)

    def _after_update(self, finite: Any) -> Any:
        good = tf.where(finite, self._variables[1] + 1.0, 0.0)
        grown = good >= self._growth_steps
        smaller = tf.maximum(self.value / _FACTOR, 1.0)
        larger = self.value * _FACTOR
        # A scale beyond float32 would stay infinite.
        grown_value = tf.where(grown & tf.is_finite(larger), larger, self.value)
        values = [tf.where(finite, grown_value, smaller), tf.where(grown, 0.0, good)]
        with tf.control_dependencies(values):
            updates = [tf.assign(*pair).op for pair in zip(self._variables, values, strict=True)]
        with tf.control_dependencies(updates):
            return tf.identity(finite, name="loss_scale/finite")


def make_loss_scale(config: RunOptions) -> LossScale | None:
    """Returns the loss scale of a run: `--loss_scale`, or a dynamic one with float16; else None."""
    if config.loss_scale > 0:
        return LossScale(dynamic=False, initial=config.loss_scale)
    return LossScale(dynamic=True) if config.mixed_precision == "float16" else None


def _state(name: str, initial: float) -> Any:
    initializer = tf.constant_initializer(initial)
    return tf.get_variable(f"loss_scale/{name}", [], initializer=initializer, trainable=False)


def _all_finite(gradients: list[Any]) -> Any:
    finite = [tf.reduce_all(tf.is_finite(gradient_values(g))) for g in gradients if g is not None]
    return tf.reduce_all(tf.stack([tf.constant(True), *finite]))
