"""The gradient transform `check_finite`: ends the run at a gradient that is not finite.

--transform check_finite

The error names the variable and comes before the update. A check of the loss fails one step later,
when NaN has spread to the variables, and names no variable.
"""

from __future__ import annotations

from typing import ClassVar

from tf_frame import GradientTransform
from tf_frame.gradient_transforms.values import GradsAndVars, gradient_values, on_values


class CheckFinite(GradientTransform):
    """Ends the run if a gradient has NaN or infinity; the error names the variable."""

    name: ClassVar[str] = "check_finite"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Makes a step fail before the update if a gradient is not finite.

        Each returned gradient depends on the checks of all gradients, so that no variable
        is updated if any gradient is not finite. The session then raises
        `tf.errors.InvalidArgumentError`, whose message names the variable.
        """
        import tensorflow.compat.v1 as tf

        checks = [
            tf.debugging.check_numerics(
                gradient_values(gradient), f"the gradient of {variable.op.name} is not finite"
            )
            for gradient, variable in grads_and_vars
            if gradient is not None
        ]
        with tf.control_dependencies(checks):
            return [
                (on_values(gradient, tf.identity), variable)
                for gradient, variable in grads_and_vars
            ]
