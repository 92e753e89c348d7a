"""The gradient transform `check_finite`: ends the run at a gradient with NaN or infinity.

--transform check_finite
"""

from __future__ import annotations

from typing import ClassVar

from tf_frame import GradientTransform
from tf_frame.gradient_transforms.values import GradsAndVars, on_values, values_of


class CheckFinite(GradientTransform):
    """Ends the run, with the name of the variable, when a gradient is NaN or infinite."""

    name: ClassVar[str] = "check_finite"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return check_gradients_finite(grads_and_vars)


def check_gradients_finite(grads_and_vars: GradsAndVars) -> GradsAndVars:
    """Makes a step fail if any gradient is not finite, before it changes anything.

    Each gradient that is returned waits for the checks of all of them, so no
    variable is updated where another one's gradient is bad. The session then
    raises `tf.errors.InvalidArgumentError`, with the variable in its message.

    Args:
      grads_and_vars: pairs; None gradients pass.
    """
    import tensorflow.compat.v1 as tf

    checks = [
        tf.debugging.check_numerics(
            values_of(gradient), f"the gradient of {variable.op.name} is not finite"
        )
        for gradient, variable in grads_and_vars
        if gradient is not None
    ]
    with tf.control_dependencies(checks):
        return [
            (on_values(gradient, tf.identity), variable) for gradient, variable in grads_and_vars
        ]
