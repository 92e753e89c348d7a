"""The gradient transform `centralize`: subtracts the mean from gradients of weights.

    --transform centralize

The authors report faster training and better generalisation: Yong et al. 2020, "Gradient
Centralization: A New Optimization Technique for Deep Neural Networks", arXiv:2004.01461.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tf_frame import GradientTransform
from tf_frame.gradient_transforms.values import GradsAndVars


class Centralize(GradientTransform):
    """Subtracts from the gradient of a kernel its mean per output channel."""

    name: ClassVar[str] = "centralize"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Subtracts from each gradient its mean over all axes but the last.

        The last axis of weights `[..., inputs, outputs]` is the axis of the outputs, so the
        gradient of each output's weights has mean zero (equation 1 of the paper). Gradients of
        vectors and of variables of unknown rank, sparse gradients and None do not change.
        """
        return [(_centre(gradient, variable), variable) for gradient, variable in grads_and_vars]


def _centre(gradient: Any, variable: Any) -> Any:
    import tensorflow.compat.v1 as tf

    rank = variable.shape.rank
    if gradient is None or isinstance(gradient, tf.IndexedSlices) or rank is None or rank < 2:
        return gradient
    return gradient - tf.reduce_mean(gradient, axis=list(range(rank - 1)), keepdims=True)
