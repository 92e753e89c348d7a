"""A model, an optimizer and a context that record values for the checks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.plugin import Mode, ModelOutput


class NumpyDraws:
    """A context that records the use of NumPy's global random numbers, which differ by process.

    Attributes:
      used: whether a block of the context used them.
    """

    def __init__(self) -> None:
        self.used = False
        self._before = b""

    def __enter__(self) -> NumpyDraws:
        self._before = _random_state()
        return self

    def __exit__(self, *error: Any) -> None:
        self.used |= _random_state() != self._before

    def check(self, method: str) -> None:
        """Raises AssertionError if `method`, which the blocks called, used the random numbers."""
        assert not self.used, (
            f"{method} uses the global random numbers of NumPy, which differ in the process that "
            "resumes a run; draw by operations of TensorFlow, or np.random.RandomState(seed)"
        )


def _random_state() -> bytes:
    state: Any = np.random.get_state()
    return bytes(state[1].tobytes()) + bytes(str(state[2:]), "ascii")


class AdjustedModel:
    """A wrapper of a model that adjusts the output of `build`, so that a graph can be built.

    Attributes:
      original: the model.
      outputs: the results of `build`, call by call.
      draws: the use of NumPy's global random numbers by `build`.
    """

    def __init__(self, model: Any) -> None:
        self.original = model
        self.outputs: list[ModelOutput] = []
        self.draws = NumpyDraws()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def build(self, features: Any, labels: Any, mode: Mode) -> Any:
        """Builds the model; its loss becomes a float scalar, and its metrics are left out."""
        with self.draws:
            output = self.original.build(features, labels, mode)
        if not isinstance(output, ModelOutput):
            return output
        self.outputs.append(output)
        return dataclasses.replace(output, loss=_scalar(output.loss), metrics={})


def _scalar(loss: Any) -> Any:
    if not tf.is_tensor(loss) or (loss.shape.rank == 0 and loss.dtype.is_floating):
        return loss
    return tf.reduce_sum(tf.cast(loss, tf.float32))


@dataclasses.dataclass
class RecordingOptimizer:
    """An optimizer plugin that records the gradients of its optimizer.

    Attributes:
      grads_and_vars: the pairs of the last clone.
    """

    plugin: Any
    grads_and_vars: Sequence[tuple[Any, Any]] = ()

    def __call__(self, learning_rate: Any) -> Any:
        """Makes the optimizer."""
        optimizer = self.plugin(learning_rate)
        compute = optimizer.compute_gradients

        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.grads_and_vars = compute(*args, **kwargs)
            return self.grads_and_vars

        optimizer.compute_gradients = recorded
        return optimizer
