"""The gradient transform `clip_by_norm`: an upper bound on the norm of each gradient.

--transform clip_by_norm:10

A variable whose gradient explodes then takes a bounded step, and the others keep theirs.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars, on_values


class ClipByNorm(GradientTransform):
    """Scales each gradient separately, so that its norm is at most `norm`."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        norm: float = option(1.0, "upper bound on the L2 norm of each gradient", min=0)

    name: ClassVar[str] = "clip_by_norm"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if params.norm <= 0:
            raise ConfigError(
                f"{self.name}: the norm is {params.norm}; it must be above 0. For no clipping, "
                f"omit {self.name}"
            )

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return clip_gradients_by_norm(grads_and_vars, self.params.norm)


def clip_gradients_by_norm(grads_and_vars: GradsAndVars, norm: Any) -> GradsAndVars:
    """Scales each gradient whose norm is greater than `norm` to that norm.

    The norm of a sparse gradient is that of its slices, as in `clip_gradient_norms` of
    tf_slim (training/training.py). It differs from the norm of the dense gradient if
    several slices have the same index.

    Args:
      grads_and_vars: pairs; None gradients are kept.
      norm: number or scalar tensor above 0.
    """
    import tensorflow.compat.v1 as tf

    return [
        (on_values(gradient, lambda values: tf.clip_by_norm(values, norm)), variable)
        for gradient, variable in grads_and_vars
    ]
