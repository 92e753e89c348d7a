"""`CoupledInputForgetGateLSTMCell`: an LSTM that forgets as much as it takes in."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn.core import LSTMStateTuple, RNNCell
from tf_frame_legacy.contrib.rnn.parts import (
    Activation,
    Sized,
    clipped,
    columns,
    norm,
    sharded_variable,
)


class CoupledInputForgetGateLSTMCell(Sized, RNNCell):
    """An LSTM whose input gate is one minus its forget gate, https://arxiv.org/abs/1503.04069.

    Args:
      num_units: number of units.
      use_peepholes: whether forget and output gate see the cell state.
      initializer: does nothing, as in the original.
      num_proj: number of columns of the projected outputs; None: no projection.
      proj_clip: limit of the projected outputs; None: no limit.
      num_unit_shards, num_proj_shards: number of variables that the weights are kept in.
      forget_bias: added to the forget gate.
      state_is_tuple: whether the state is an LSTMStateTuple; False: its parts are concatenated.
      activation: activation of the new input and of the cell state.
      reuse: whether the variables exist.
      layer_norm: whether gates and cell state are normalized; the bias is not used then.
      norm_gain, norm_shift: initial values of gamma and beta.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tf.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._set_lstm_sizes(num_units, num_proj, state_is_tuple)
        self._use_peepholes = use_peepholes
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm = functools.partial(norm, norm_gain, norm_shift)

    def call(self, inputs: Any, state: Any) -> Any:
        sizes = [self._num_units, self._output_size]
        cell, output = state if self._state_is_tuple else tf.split(state, sizes, axis=1)
        j, f, o = self._gates(inputs, output)
        forget = tf.sigmoid(self._peek(f + self._forget_bias, "W_F_diag", cell))
        cell = forget * cell + (1 - forget) * self._activation(j)
        if self._layer_norm:
            cell = self._norm(cell, "state")
        output = tf.sigmoid(self._peek(o, "W_O_diag", cell)) * self._activation(cell)
        output = self._projected(output)
        if self._state_is_tuple:
            return output, LSTMStateTuple(cell, output)
        return output, tf.concat([cell, output], 1)

    def _gates(self, inputs: Any, output: Any) -> Any:
        shape = [columns(inputs) + self._output_size, 3 * self._num_units]
        weights = sharded_variable("W", shape, inputs.dtype, self._num_unit_shards)
        bias = tf.get_variable("B", shape[1:], inputs.dtype, tf.zeros_initializer())
        matrix = tf.matmul(tf.concat([inputs, output], 1), weights)
        if self._layer_norm:
            scopes = "transform", "forget", "output"
            return list(map(self._norm, tf.split(matrix, 3, axis=1), scopes))
        return tf.split(tf.nn.bias_add(matrix, bias), 3, axis=1)

    def _peek(self, gate: Any, name: str, cell: Any) -> Any:
        if not self._use_peepholes:
            return gate
        return gate + tf.get_variable(name, [self._num_units], cell.dtype) * cell

    def _projected(self, outputs: Any) -> Any:
        if self._num_proj is None:
            return outputs
        shape = [self._num_units, self._num_proj]
        weights = sharded_variable("W_P", shape, outputs.dtype, self._num_proj_shards)
        return clipped(tf.matmul(outputs, weights), self._proj_clip)
