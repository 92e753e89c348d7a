"""LSTM cells with layer normalization, https://arxiv.org/abs/1607.06450, or weight norms."""

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
    lstm_step,
    norm,
)

_GATES = "input", "transform", "forget", "output"


class LayerNormBasicLSTMCell(Sized, RNNCell):
    """An LSTM with layer normalization and dropout of the new input.

    The dropout is that of https://arxiv.org/abs/1603.05118.

    Args:
      num_units: number of units.
      forget_bias: added to the forget gate.
      input_size: does nothing.
      activation: activation of the new input and of the cell state.
      layer_norm: whether gates and cell state are normalized.
      norm_gain, norm_shift: initial values of gamma and beta.
      dropout_keep_prob: share of the new input that is kept, a number or a tensor.
      dropout_prob_seed: seed of the dropout.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Activation = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        self._set_lstm_sizes(num_units)
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm = functools.partial(norm, norm_gain, norm_shift)
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        i, j, f, o = self._gates(tf.concat([inputs, output], 1))
        new_input = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new_input = tf.nn.dropout(new_input, rate=1 - self._keep_prob, seed=self._seed)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * new_input
        if self._layer_norm:
            cell = self._norm(cell, "state")
        output = self._activation(cell) * tf.sigmoid(o)
        return output, LSTMStateTuple(cell, output)

    def _gates(self, rows: Any) -> list[Any]:
        width = 4 * self._num_units
        matrix = tf.matmul(rows, tf.get_variable("kernel", [columns(rows), width], rows.dtype))
        if self._layer_norm:
            return list(map(self._norm, tf.split(matrix, 4, axis=1), _GATES))
        bias = tf.get_variable("bias", [width], rows.dtype)
        return list(tf.split(tf.nn.bias_add(matrix, bias), 4, axis=1))


class _FullLSTMCell(Sized, RNNCell):
    """An LSTM with peepholes, limits and a projection; subclasses make its linear maps."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: float | None,
        initializer: Any,
        num_proj: int | None,
        proj_clip: float | None,
        forget_bias: float,
        activation: Activation | None,
        reuse: Any,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._set_lstm_sizes(num_units, num_proj)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh

    def _step(self, gates: Any, cell: Any, cell_norm: Activation = tf.identity) -> Any:
        peepholes = dict.fromkeys("ifo")
        for gate in "fio" if self._use_peepholes else "":
            shape = [self._num_units]
            peepholes[gate] = tf.get_variable(f"w_{gate}_diag", shape, cell.dtype)
        return lstm_step(
            gates,
            cell,
            forget_bias=self._forget_bias,
            activation=self._activation,
            peepholes=list(peepholes.values()),
            cell_clip=self._cell_clip,
            norm=cell_norm,
        )

    def _projected(self, outputs: Any) -> Any:
        if self._num_proj is None:
            return outputs
        with tf.variable_scope("projection"):
            outputs = tf.matmul(outputs, self._kernel([outputs], self._num_proj))
        return clipped(outputs, self._proj_clip)

    def _kernel(self, args: list[Any], output_size: int) -> Any:
        """Returns the kernel of a linear map in the current scope."""
        shape = [sum(map(columns, args)), output_size]
        return tf.get_variable("kernel", shape, args[0].dtype)

    def _bias(self, dtype: Any) -> Any:
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            scope.set_partitioner(None)
            zeros = tf.zeros_initializer()
            return tf.get_variable("bias", [4 * self._num_units], dtype, zeros)


class LayerNormLSTMCell(_FullLSTMCell):
    """An `LSTMCell` with layer normalization.

    Args:
      num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias,
        activation: see `LSTMCell`.
      layer_norm: whether gates and cell state are normalized; the bias is not used then.
      norm_gain, norm_shift: initial values of gamma and beta.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._layer_norm = layer_norm
        self._norm = functools.partial(norm, norm_gain, norm_shift)

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        args = [inputs, output]
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            kernel = self._kernel(args, 4 * self._num_units)
            matrix, bias = tf.matmul(tf.concat(args, 1), kernel), self._bias(inputs.dtype)
            if self._layer_norm:
                gates = list(map(self._norm, tf.split(matrix, 4, axis=1), _GATES))
                cell_norm = functools.partial(self._norm, scope="state")
                cell, output = self._step(gates, cell, cell_norm)
            else:
                gates = tf.split(tf.nn.bias_add(matrix, bias), 4, axis=1)
                cell, output = self._step(gates, cell)
            output = self._projected(output)
        return output, LSTMStateTuple(cell, output)


class WeightNormLSTMCell(_FullLSTMCell):
    """An `LSTMCell` with weight normalization, https://arxiv.org/abs/1602.07868.

    Its variables are in the scope "wn_lstm_cell/wn_lstm_cell".

    Args:
      num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias,
        activation: see `LSTMCell`.
      norm: whether the weights are normalized.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Activation | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._norm = norm
        # The original set the scope of the layer, too, and so had it twice in the names.
        self._scope = "wn_lstm_cell"

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        args = [inputs, output]
        with tf.variable_scope("wn_lstm_cell", initializer=self._initializer):
            matrix = tf.matmul(tf.concat(args, 1), self._kernel(args, 4 * self._num_units))
            matrix = tf.nn.bias_add(matrix, self._bias(inputs.dtype))
            cell, output = self._step(tf.split(matrix, 4, axis=1), cell)
            output = self._projected(output)
        return output, LSTMStateTuple(cell, output)

    def _kernel(self, args: list[Any], output_size: int) -> Any:
        kernel = super()._kernel(args, output_size)
        if not self._norm:
            return kernel
        parts = tf.split(kernel, list(map(columns, args)))
        for number, part in enumerate(parts):
            gain = tf.get_variable(f"norm_{number}", [output_size], kernel.dtype)
            parts[number] = tf.nn.l2_normalize(part, axis=0) * gain
        return tf.concat(parts, 0)
