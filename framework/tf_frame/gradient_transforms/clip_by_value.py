"""The gradient transform `clip_by_value`: bounds on the elements of gradients.

--transform clip_by_value:0.5

A few huge elements are cut while the others stay; clipping by norm would scale all of them down.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars, on_values


class ClipByValue(GradientTransform):
    """Clips each element of a gradient to the bounds."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        limit: float = option(1.0, "elements are clipped to -limit and limit", min=0)
        lower: float | None = option(None, "lower bound; none: -limit")
        upper: float | None = option(None, "upper bound; none: limit")

    name: ClassVar[str] = "clip_by_value"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self.lower = -params.limit if params.lower is None else params.lower
        self.upper = params.limit if params.upper is None else params.upper
        if self.lower >= self.upper:
            raise ConfigError(
                f"{self.name}: the lower bound {self.lower} must be below the upper bound "
                f"{self.upper}"
            )

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Sets elements beyond a bound to the bound; None gradients are kept.

        The slices of a sparse gradient are clipped, not the sums of slices with the same index.
        """
        import tensorflow.compat.v1 as tf

        def clipped(values: Any) -> Any:
            return tf.clip_by_value(values, self.lower, self.upper)

        return [(on_values(gradient, clipped), variable) for gradient, variable in grads_and_vars]
