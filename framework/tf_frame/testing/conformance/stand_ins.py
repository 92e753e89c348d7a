"""Stand-ins for the model and the optimizer of a graph, which record what the checks examine."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.plugin import Mode, ModelOutput
from tf_frame.testing.conformance.numpy_draws import NumpyDraws


class AdjustedModel:
    """A model whose output always fits the framework; all else is that of the model.

    Args:
      model: the model plugin.

    Attributes:
      outputs: what `build` returned, call by call.
      draws: whether `build` uses NumPy's global random numbers.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.outputs: list[ModelOutput] = []
        self.draws = NumpyDraws()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def build(self, features: Any, labels: Any, mode: Mode) -> Any:
        """Builds the model; its loss becomes a float scalar, and its metrics are left out."""
        with self.draws:
            output = self._model.build(features, labels, mode)
        if not isinstance(output, ModelOutput):
            return output
        self.outputs.append(output)
        return dataclasses.replace(output, loss=_scalar(output.loss), metrics={})


def _scalar(loss: Any) -> Any:
    if not tf.is_tensor(loss) or (loss.shape.rank == 0 and loss.dtype.is_floating):
        return loss
    return tf.reduce_sum(tf.cast(loss, tf.float32))


class RecordingOptimizer:
    """An optimizer plugin that remembers the gradients which its optimizer computes.

    Args:
      plugin: the optimizer plugin.

    Attributes:
      grads_and_vars: the pairs of the last clone.
    """

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin
        self.grads_and_vars: Sequence[tuple[Any, Any]] = ()

    def __call__(self, learning_rate: Any) -> Any:
        """Makes the optimizer."""
        made = self._plugin(learning_rate)
        compute = made.compute_gradients

        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.grads_and_vars = compute(*args, **kwargs)
            return self.grads_and_vars

        made.compute_gradients = recorded
        return made
