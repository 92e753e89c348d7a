"""Batch renormalisation, https://arxiv.org/abs/1702.03275.

In training the normalised values `x` become `x * r + d`, which approximates
normalisation by the moving statistics; no gradient passes through `r` and `d`.
Names and details: Keras, layers/normalization/batch_normalization.py, on which
slim's batch_norm was built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import smart_where
from tf_frame.layers.norm_variables import (
    INITIALIZERS,
    BatchNormVariables,
    moving_update,
    moving_variable,
)

_BOUNDS = ("rmax", "rmin", "dmax")


class Renorm:
    """Corrections of one layer, and the moving statistics that they are computed from.

    Gets or creates the variables `moving_stddev`, `renorm_mean` and `renorm_stddev`,
    `[channels]`.

    Args:
      variables: the other variables of the layer.
      initializers: variable name -> initializer, of `moving_mean` and `moving_variance`.
      clipping: bounds of the corrections: "rmin", "rmax" and "dmax".
      decay: weight of the old value in an update of `renorm_mean` and `renorm_stddev`.
      epsilon: added to the variance.
      is_training: bool or scalar bool tensor.

    Raises:
      ValueError: `clipping` has an unknown key.
    """

    def __init__(
        self,
        variables: BatchNormVariables,
        *,
        initializers: Mapping[str, Any] | None,
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
        self._moving_mean, self._moving_variance = variables.moving_mean, variables.moving_variance
        self._decay, self._epsilon, self._is_training = decay, epsilon, is_training
        self._corrections: list[Any] = []
        initializers = {**INITIALIZERS, **(initializers or {})}

        def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
            return tf.sqrt(initializers["moving_variance"](*args, **kwargs))

        def make(name: str, initializer: Any) -> Any:
            like = variables.moving_mean
            return moving_variable(name, like.shape, like.dtype.base_dtype, initializer)

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
        """Returns the update operations of all moving statistics; they run after `r` and `d`.

        Args:
          mean, variance: statistics of the batch.
          decay: weight of the old value of `moving_mean` and `moving_variance`.
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
            # Rounding may make the difference negative.
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
