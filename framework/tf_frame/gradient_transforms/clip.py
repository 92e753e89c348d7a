"""The gradient transforms `clip_by_norm`, `clip_by_global_norm` and `clip_by_value`.

    --transform clip_by_norm:10        # a bound on the norm of each gradient
    --transform clip_by_global_norm:1  # one factor for all: the direction of the step stays
    --transform clip_by_value:0.5      # cuts a few huge elements, and changes no other element

A batch with exploding gradients then cannot ruin the variables.
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


class ClipByGlobalNorm(ClipByNorm):
    """Scales all gradients by one factor, so that their global norm is at most `norm`."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        norm: float = option(1.0, "upper bound on the L2 norm of all gradients together", min=0)

    name: ClassVar[str] = "clip_by_global_norm"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return clip_gradients_by_global_norm(grads_and_vars, self.params.norm)


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


def clip_gradients_by_norm(grads_and_vars: GradsAndVars, norm: Any) -> GradsAndVars:
    """Scales each gradient with a norm greater than `norm` to `norm`.

    The norm of a sparse gradient is the norm of its slices, as in `clip_gradient_norms` of tf_slim
    (training/training.py). The dense gradient has another norm if slices have the same index. None
    gradients are kept; `norm` is a number or scalar tensor above 0.
    """
    import tensorflow.compat.v1 as tf

    return [
        (on_values(gradient, lambda values: tf.clip_by_norm(values, norm)), variable)
        for gradient, variable in grads_and_vars
    ]


def clip_gradients_by_global_norm(grads_and_vars: GradsAndVars, norm: Any) -> GradsAndVars:
    """Multiplies all gradients by `norm / max(norm, global norm)`.

    The direction of the step does not change (Pascanu et al. 2013, arXiv:1211.5063). If a gradient
    is not finite, all gradients become NaN. Sparse gradients, None and `norm` are treated as by
    `clip_gradients_by_norm`.
    """
    import tensorflow.compat.v1 as tf

    if all(gradient is None for gradient, _ in grads_and_vars):
        return list(grads_and_vars)
    gradients = [gradient for gradient, _ in grads_and_vars]
    # TensorFlow's function takes gradients of one type only.
    by_type: dict[Any, list[Any]] = {}
    for gradient in gradients:
        if gradient is not None:
            by_type.setdefault(gradient.dtype, []).append(gradient)
    if len(by_type) == 1:
        clipped, _ = tf.clip_by_global_norm(gradients, norm)
    else:
        norms = [tf.cast(tf.linalg.global_norm(part), tf.float64) for part in by_type.values()]
        total = tf.linalg.global_norm(norms)
        parts = {
            dtype: iter(tf.clip_by_global_norm(part, norm, tf.cast(total, dtype))[0])
            for dtype, part in by_type.items()
        }
        clipped = [g if g is None else next(parts[g.dtype]) for g in gradients]
    return list(zip(clipped, [variable for _, variable in grads_and_vars], strict=True))
