"""Cells whose units see of the last state only their own, https://arxiv.org/abs/1803.04831."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.engine.input_spec import InputSpec

from tf_frame_legacy.contrib.rnn.core import LayerRNNCell, LSTMStateTuple
from tf_frame_legacy.contrib.rnn.parts import Activation, Sized, known_width, lstm_step


class _IndependentCell(Sized, LayerRNNCell):
    """The common part: maps of the inputs by a matrix, and of the state by a vector."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None,
        reuse: Any,
        name: str | None,
        dtype: Any,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._state_size = self._output_size = self._num_units = num_units
        self._activation = activation or tf.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer
        self.input_spec = InputSpec(ndim=2)

    def _add_map(self, width: int, names: tuple[str, str, str], copies: int, bias: float) -> Any:
        units = copies * self._num_units
        kernel_w, kernel_u, bias_name = names
        uniform = tf.random_uniform_initializer(-1, 1)
        initializer = self._bias_initializer or tf.constant_initializer(bias)
        return (
            self.add_weight(kernel_w, [width, units], initializer=self._kernel_initializer),
            self.add_weight(kernel_u, [1, units], initializer=uniform),
            self.add_weight(bias_name, [units], initializer=initializer),
        )


def _apply(weights: Any, inputs: Any, state: Any) -> Any:
    kernel_w, kernel_u, bias = weights
    copies = kernel_u.shape[1] // state.shape[1]
    return tf.nn.bias_add(
        tf.matmul(inputs, kernel_w) + tf.tile(state, [1, copies]) * kernel_u, bias
    )


class IndRNNCell(_IndependentCell):
    """An independently recurrent network.

    Args:
      num_units: number of units.
      activation: activation of the outputs; None: tanh.
      reuse: whether the variables exist.
      name: name of the variable scope.
      dtype: type of the variables; None: that of the first inputs.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape: Any) -> None:
        names = "kernel_w", "kernel_u", "bias"
        self._weights = self._add_map(known_width(inputs_shape), names, 1, 0.0)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        output = self._activation(_apply(self._weights, inputs, state))
        return output, output


class IndyGRUCell(_IndependentCell):
    """A GRU whose units see only their own last state.

    Args:
      num_units, activation, reuse, name, dtype: see `IndRNNCell`.
      kernel_initializer: initializer of the maps of the inputs; None: that of the scope.
      bias_initializer: initializer of the biases; None: ones for the gates, zeros otherwise.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer
        )

    def build(self, inputs_shape: Any) -> None:
        width = known_width(inputs_shape)
        gates = "gates/kernel_w", "gates/kernel_u", "gates/bias"
        candidate = "candidate/kernel", "candidate/kernel_u", "candidate/bias"
        self._gates = self._add_map(width, gates, 2, 1.0)
        self._candidate = self._add_map(width, candidate, 1, 0.0)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = tf.sigmoid(_apply(self._gates, inputs, state))
        reset, update = tf.split(gates, 2, axis=1)
        candidate = self._activation(_apply(self._candidate, inputs, reset * state))
        state = update * state + (1 - update) * candidate
        return state, state


class IndyLSTMCell(_IndependentCell):
    """An LSTM whose units see only their own last output, https://arxiv.org/abs/1903.08023.

    Args:
      forget_bias: added to the forget gate.
      num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype: see
        `IndyGRUCell`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer
        )
        self._forget_bias = forget_bias
        self._state_size = LSTMStateTuple(num_units, num_units)

    def build(self, inputs_shape: Any) -> None:
        names = "kernel_w", "kernel_u", "bias"
        self._weights = self._add_map(known_width(inputs_shape), names, 4, 0.0)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        gates = tf.split(_apply(self._weights, inputs, output), 4, axis=1)
        cell, output = lstm_step(
            gates, cell, forget_bias=self._forget_bias, activation=self._activation
        )
        return output, LSTMStateTuple(cell, output)
