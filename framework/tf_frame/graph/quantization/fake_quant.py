"""Fake quantisation of weights and activations, with variables for the ranges.

Values are rounded to 256 levels, as in 8-bit integers, but stay float32, so that the network can be
trained. Evaluation reads the ranges, measured in training, from the checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError

# Collection of the ranges, named as in tf.contrib.quantize.
QUANT_VARS = "quant_vars"
# Decay of an activation's range: ema_decay of tf.contrib.quantize.
_DECAY = 0.999
# As in tf.quantization.fake_quant_with_min_max_vars.
_BITS = range(2, 17)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FakeQuant:
    """Rounds weights and activations.

    Attributes:
      active: scalar bool tensor: whether to round in this step; None: always.
      keep: scalar float32 tensor: the decay of an activation's range in this step; None in
        evaluation, which only reads ranges.
      weight_bits, activation_bits: bits of the integers, 2 to 16.
      inline: whether every rounding updates a range; otherwise ops in `UPDATE_OPS` do.

    Raises:
      ConfigError: another number of bits.
    """

    active: Any
    keep: Any
    weight_bits: int = 8
    activation_bits: int = 8
    inline: bool = False

    def __post_init__(self) -> None:
        if not (self.weight_bits in _BITS and self.activation_bits in _BITS):
            raise ConfigError(
                f"quantisation to {self.weight_bits} bits for weights and {self.activation_bits} "
                f"for activations: TensorFlow rounds to {_BITS[0]} to {_BITS[-1]} bits"
            )

    def weights(self, tensor: Any, name: str) -> Any:
        """Rounds weights to levels (255 for 8 bits) symmetric around 0, once rounding begins.

        The range has the variables `<name>/min` and `<name>/max`.
        """
        return self._apply(tensor, name, self.weight_bits, measure=_symmetric, narrow_range=True)

    def activations(self, tensor: Any, name: str) -> Any:
        """Rounds activations to levels (256) in a moving range; otherwise like `weights`."""

        def measure(values: Any, low: Any, high: Any) -> tuple[Any, Any]:
            return _moving(values, low, high, self.keep)

        return self._apply(tensor, name, self.activation_bits, measure=measure, narrow_range=False)

    def _apply(self, tensor: Any, name: str, bits: int, *, measure: Any, narrow_range: bool) -> Any:
        limits = [_limit(f"{name}/min"), _limit(f"{name}/max")]
        with tf.name_scope(f"{name}/"):
            low, high = map(tf.convert_to_tensor, limits)
            if self.keep is not None:
                low, high = measure(tf.stop_gradient(tensor), low, high)
                updates = [tf.assign(*pair) for pair in zip(limits, (low, high), strict=True)]
                low, high = _updated(updates, (low, high), inline=self.inline)
            rounded = tf.quantization.fake_quant_with_min_max_vars(
                tensor, low, high, num_bits=bits, narrow_range=narrow_range
            )
            # An empty range was not measured yet, or only zeros were.
            use = low < high if self.active is None else (low < high) & self.active
            return tf.where(use, rounded, tensor)


def quantization_summaries() -> list[Any]:
    """Builds a scalar summary of every range, as object_detection's graph_rewriter_builder does."""
    return [
        tf.summary.scalar(f"{QUANT_VARS}/{variable.op.name}", variable)
        for variable in tf.get_collection(QUANT_VARS)
    ]


def kept_share(*, inline: bool = False) -> Any:
    """Returns the decay of the moving ranges in this step, a scalar float32 tensor.

    The range is the average of all batches at first, and a moving average in the long run: the
    debiased average of section 3 of https://arxiv.org/abs/1412.6980, written as an update. A
    separate variable counts the steps, because a model may be quantised late.

    Args:
      inline: see `FakeQuant`.
    """
    variable = tf.get_variable(
        "quantization_step", [], initializer=tf.zeros_initializer(), trainable=False
    )
    step = variable + 1.0
    (step,) = _updated([tf.assign(variable, step)], [step], inline=inline)
    rate = math.log(_DECAY)
    return _DECAY * tf.math.expm1((step - 1.0) * rate) / tf.math.expm1(step * rate)


def _updated(updates: Sequence[Any], values: Sequence[Any], *, inline: bool) -> Sequence[Any]:
    """Makes values run the updates when they are computed (`inline`), or collects the updates."""
    if inline:
        with tf.control_dependencies(updates):
            return [tf.identity(value) for value in values]
    for update in updates:
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, getattr(update, "op", update))
    return values


def _limit(name: str) -> Any:
    limit = layers.model_variable(name, [], initializer=tf.zeros_initializer(), trainable=False)
    tf.add_to_collection(QUANT_VARS, limit)
    return limit


def _symmetric(weights: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The range that integer kernels need for weights: level 0 is zero.

    Source: https://ai.google.dev/edge/litert/models/quantization_spec.
    """
    del low, high
    # Slightly wider: a weight outside of the range gets no gradient.
    greatest = tf.reduce_max(tf.abs(weights)) * (1.0 + 2.0**-20)
    return -greatest, greatest


def _moving(activations: Any, low: Any, high: Any, keep: Any) -> tuple[Any, Any]:
    """The range after this batch; it holds 0, which padding and rectifiers need as a level."""
    return (
        low * keep + tf.minimum(tf.reduce_min(activations), 0.0) * (1.0 - keep),
        high * keep + tf.maximum(tf.reduce_max(activations), 0.0) * (1.0 - keep),
    )
