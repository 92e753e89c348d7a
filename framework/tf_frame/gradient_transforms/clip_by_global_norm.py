"""The gradient transform `clip_by_global_norm`: an upper bound on the global norm.

--transform clip_by_global_norm:1

A batch with exploding gradients then cannot ruin the variables; the direction of its step is kept.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.gradient_transforms.clip_by_norm import ClipByNorm
from tf_frame.gradient_transforms.values import GradsAndVars


class ClipByGlobalNorm(ClipByNorm):
    """Scales all gradients by one factor, so that their global norm is at most `norm`."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        norm: float = option(1.0, "upper bound on the L2 norm of all gradients together", min=0)

    name: ClassVar[str] = "clip_by_global_norm"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return clip_gradients_by_global_norm(grads_and_vars, self.params.norm)


def clip_gradients_by_global_norm(grads_and_vars: GradsAndVars, norm: Any) -> GradsAndVars:
    """Multiplies all gradients by `norm / max(norm, global norm)`.

    The direction of the step does not change (Pascanu et al. 2013, arXiv:1211.5063). If
    a gradient is not finite, all gradients become NaN. The norm of a sparse gradient is
    that of its slices, see `clip_gradients_by_norm`.

    Args:
      grads_and_vars: pairs; None gradients are kept.
      norm: number or scalar tensor above 0.
    """
    import tensorflow.compat.v1 as tf

    if all(gradient is None for gradient, _ in grads_and_vars):
        return list(grads_and_vars)
    gradients = [gradient for gradient, _ in grads_and_vars]
    of_type = {
        dtype: [each for each in gradients if each is not None and each.dtype == dtype]
        for dtype in dict.fromkeys(each.dtype for each in gradients if each is not None)
    }
    if len(of_type) == 1:
        clipped, _ = tf.clip_by_global_norm(gradients, norm)
    else:
        norms = [tf.cast(tf.linalg.global_norm(each), tf.float64) for each in of_type.values()]
        total = tf.linalg.global_norm(norms)
        left = {
            dtype: iter(tf.clip_by_global_norm(each, norm, tf.cast(total, dtype))[0])
            for dtype, each in of_type.items()
        }
        clipped = [each if each is None else next(left[each.dtype]) for each in gradients]
    return [
        (gradient, variable)
        for gradient, (_, variable) in zip(clipped, grads_and_vars, strict=True)
    ]
