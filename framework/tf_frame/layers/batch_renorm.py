"""Batch renormalisation, https://arxiv.org/abs/1702.03275.

In training the normalised values `x` become `x * r + d`, as if moving statistics
had made them; gradients pass `r` and `d` by. Names and details: Keras, layers/
normalization/batch_normalization.py, on which slim's batch_norm was built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.batch_norm_variables import Parameters, moving_update, moving_variable
from tf_frame.layers.conditions import smart_where

_BOUNDS = ("rmax", "rmin", "dmax")


class Renorm:
    """The corrections of one layer, and the moving statistics that they follow from.

    Gets or creates the variables `moving_stddev`, `renorm_mean` and `renorm_stddev`,
    `[channels]`.

    Args:
      parameters: the other variables of the layer.
      clipping: bounds of the corrections, by "rmin", "rmax" and "dmax".
      decay: how much of `renorm_mean` and `renorm_stddev` is kept per step.
      epsilon: added to the variance.
      is_training: bool or scalar bool tensor.

    Raises:
      ValueError: another key in `clipping`.
    """

    def __init__(
        self,
        parameters: Parameters,
        *,
        clipping: Mapping[str, Any] | None,
        decay: Any,
        epsilon: float,
        is_training: Any,
    ) -> None:
        self._clipping = clipping or {}
        unknown = {key: value for key, value in self._clipping.items() if key not in _BOUNDS}
        if unknown:
            raise ValueError(
                f"Received invalid keys for `renorm_clipping` argument: {unknown}. "
                f"Supported values: {list(_BOUNDS)}."
            )
        self._moving_mean, self._moving_variance = parameters[2:4]
        self._decay, self._epsilon, self._is_training = decay, epsilon, is_training
        self._corrections: list[Any] = []
        initializers = parameters.initializers

        def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
            return tf.sqrt(initializers["moving_variance"](*args, **kwargs))

        def make(name: str, initializer: Any) -> Any:
            return moving_variable(name, parameters.moving_mean, initializer)

        self._moving_stddev = make("moving_stddev", stddev_initializer)
        self._mean = make("renorm_mean", initializers["moving_mean"])
        self._stddev = make("renorm_stddev", stddev_initializer)

    def correct(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        """Returns `r` and `d` for the statistics of the batch, all `[channels]`."""
        # Early in training the moving deviation may still be 0.
        stddev = tf.maximum(self._stddev, tf.sqrt(tf.cast(self._epsilon, mean.dtype)))
        r = self._clip(self._stddev_of(variance) / stddev, "rmin", "rmax")
        d = self._clip((mean - self._mean) / stddev, "dmax", "dmax")
        r = smart_where(self._is_training, r, tf.ones_like(r))
        d = smart_where(self._is_training, d, tf.zeros_like(d))
        self._corrections = [r, d]
        return tf.stop_gradient(r), tf.stop_gradient(d)

    def updates(self, mean: Any, variance: Any, decay: Any) -> list[Any]:
        """Operations that move all moving values, when `r` and `d` have been computed.

        Args:
          mean, variance: of the batch.
          decay: how much of `moving_mean` and `moving_variance` is kept per step.
        """

        def move(variable: Any, value: Any, kept: Any) -> Any:
            return moving_update(variable, value, kept, self._is_training)

        stddev = self._stddev_of(variance)
        with tf.control_dependencies(self._corrections):
            of_corrections = [
                move(self._mean, mean, self._decay),
                move(self._stddev, stddev, self._decay),
            ]
        moved = move(self._moving_stddev, stddev, decay)
        with tf.control_dependencies([moved]):
            # Rounding may lead below 0.
            new = tf.nn.relu(tf.square(self._moving_stddev.read_value()) - self._epsilon)
            old = tf.convert_to_tensor(self._moving_variance)
            new_variance = smart_where(self._is_training, new, old)
            moved = self._moving_variance.assign(new_variance, read_value=False)
        with tf.control_dependencies(of_corrections):
            return [move(self._moving_mean, mean, decay), moved]

    def _stddev_of(self, variance: Any) -> Any:
        return tf.sqrt(variance + self._epsilon)

    def _clip(self, values: Any, lower: str, upper: str) -> Any:
        if lower in self._clipping:
            bound = self._clipping[lower]
            values = tf.maximum(values, -bound if lower == upper else bound)
        return tf.minimum(values, self._clipping[upper]) if upper in self._clipping else values
