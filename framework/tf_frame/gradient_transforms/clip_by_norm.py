"""The gradient transform `clip_by_norm`: no gradient longer than a given norm.

--transform clip_by_norm:10
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars, on_values


class ClipByNorm(GradientTransform):
    """Scales each gradient down to a norm, by itself."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        norm: float = option(1.0, "largest L2 norm that a variable's gradient keeps", min=0)

    name: ClassVar[str] = "clip_by_norm"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        check_norm(self.name, params.norm)

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return clip_gradients_by_norm(grads_and_vars, self.params.norm)


def clip_gradients_by_norm(grads_and_vars: GradsAndVars, norm: Any) -> GradsAndVars:
    """Scales each gradient that is longer than `norm` down to it.

    The norm of a sparse gradient is that of its slices, as `clip_gradient_norms`
    of tf_slim (training/training.py) has it: where an index stands in it several
    times, the norm of the dense gradient is another.

    Args:
      grads_and_vars: pairs; None gradients pass.
      norm: number or scalar tensor above 0.
    """
    import tensorflow.compat.v1 as tf

    return [
        (on_values(gradient, lambda values: tf.clip_by_norm(values, norm)), variable)
        for gradient, variable in grads_and_vars
    ]


def check_norm(owner: str, norm: float) -> None:
    """Raises a ConfigError for a norm that would make every gradient 0, or turn it round."""
    if norm <= 0:
        raise ConfigError(
            f"{owner}: the norm is {norm} and must be above 0; leave {owner} out for no clipping"
        )
