"""The gradient transform `last_layer_multiplier`: trains biases and last layers faster.

In fine-tuning, layers without values from a checkpoint need larger steps than the trained
backbone. DeepLab multiplies their gradients, and doubles the gradients of all biases
(`get_model_gradient_multipliers` in its train_utils).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option

_BIASES = "biases"


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the transform."""

    multiplier: float = option(1.0, "factor on gradients of the last layers", min=0)
    bias_multiplier: float = option(2.0, "further factor on gradients of all biases", min=0)
    last_layers: tuple[str, ...] = option(
        ("logits", "image_pooling", "aspp", "concat_projection", "decoder", "meta_architecture"),
        "the last layers: parts of variable names",
    )


class LastLayerMultiplier(GradientTransform):
    """Multiplies gradients by factors that depend on variable names.

    A variable is a bias when its name contains `biases`, and belongs to a last
    layer when its name contains the layer's, anywhere.
    """

    Params: ClassVar[type] = Params

    def __call__(self, grads_and_vars: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Returns the pairs with scaled gradients; a factor of 1 adds no op."""
        return [
            (_scaled(gradient, self.factor(variable.op.name)), variable)
            for gradient, variable in grads_and_vars
        ]

    def factor(self, name: str) -> float:
        """Returns the factor for a variable.

        Args:
          name: the variable's full name.
        """
        factor = self.params.bias_multiplier if _BIASES in name else 1.0
        if any(layer in name for layer in self.params.last_layers):
            factor *= self.params.multiplier
        return factor


def _scaled(gradient: Any, factor: float) -> Any:
    import tensorflow.compat.v1 as tf

    if gradient is None or factor == 1.0:
        return gradient
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values * factor
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * factor
