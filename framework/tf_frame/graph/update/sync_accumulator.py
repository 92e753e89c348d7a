"""`SyncAccumulator`: the gradients of a variable that synchronous workers send."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class SyncAccumulator:
    """The mean of the gradients of a variable, on the variable's device.

    Args:
      gradient: a dense gradient of the shape of the variable, or `tf.IndexedSlices`.
      variable: the variable.
    """

    def __init__(self, gradient: Any, variable: Any) -> None:
        self._sparse = isinstance(gradient, tf.IndexedSlices)
        kind = tf.SparseConditionalAccumulator if self._sparse else tf.ConditionalAccumulator
        self._device = variable.device
        with tf.device(self._device):
            self._accumulator = kind(
                gradient.dtype,
                shape=variable.shape,
                shared_name=f"{variable.op.name}/gradients",
            )

    def send(self, gradient: Any, token: Any) -> Any:
        """Adds a gradient of the values at a token; one of older values is dropped."""
        with tf.device(self._device):
            if self._sparse:
                return self._accumulator.apply_indexed_slices_grad(gradient, token)
            return self._accumulator.apply_grad(gradient, token)

    def mean(self, number: int) -> Any:
        """Waits for a number of gradients, and returns their mean."""
        with tf.device(self._device):
            if self._sparse:
                return self._accumulator.take_indexed_slices_grad(number)
            return self._accumulator.take_grad(number)

    def count(self) -> Any:
        """Returns the number of gradients that are there."""
        with tf.device(self._device):
            return self._accumulator.num_accumulated()

    def drop_before(self, token: Any) -> Any:
        """Drops from now on gradients of values before a token."""
        with tf.device(self._device):
            return self._accumulator.set_global_step(token)
