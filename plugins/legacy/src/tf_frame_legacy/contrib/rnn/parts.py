"""What the cells of tf.contrib.rnn have in common: sizes, gates, linear maps and norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_legacy.contrib.rnn.core import LSTMStateTuple

Activation = Callable[[Any], Any]


class Sized:
    """The sizes of a cell, which its constructor sets."""

    _state_size: Any
    _output_size: Any

    @property
    def state_size(self) -> Any:
        """Number of columns of the state, in the structure of the state."""
        return self._state_size

    @property
    def output_size(self) -> Any:
        """Number of columns of the outputs."""
        return self._output_size

    def _set_lstm_sizes(
        self, num_units: int, num_proj: int | None = None, state_is_tuple: bool = True
    ) -> None:
        self._num_units, self._num_proj = num_units, num_proj
        self._output_size = num_proj or num_units
        state = LSTMStateTuple(num_units, self._output_size)
        self._state_size = state if state_is_tuple else sum(state)


class Wrapper:
    """A cell around `_cell`, whose states it has."""

    _cell: Any

    @property
    def state_size(self) -> Any:
        """The state sizes of the wrapped cell."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The output size of the wrapped cell."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the zero state of the wrapped cell."""
        with tf.name_scope(f"{type(self).__name__}ZeroState"):
            return self._cell.zero_state(batch_size, dtype)


def lstm_step(
    gates: Sequence[Any],
    cell: Any,
    *,
    forget_bias: float,
    activation: Activation = tf.tanh,
    peepholes: Sequence[Any] = (None, None, None),
    cell_clip: float | None = None,
    norm: Activation = tf.identity,
) -> tuple[Any, Any]:
    """Returns the new cell state and the output of an LSTM.

    Args:
      gates: input gate, new input, forget gate and output gate before their activations, each
        `[batch, units]`.
      cell: the cell state, `[batch, units]`.
      forget_bias: added to the forget gate.
      activation: activation of the new input and of the cell state.
      peepholes: weights `[units]` that the cell state has in the input, forget and output gate.
      cell_clip: limit of the cell state; None: no limit.
      norm: applied to the new cell state.
    """
    i, j, f, o = gates
    w_i, w_f, w_o = peepholes
    kept = tf.sigmoid(_peek(f + forget_bias, w_f, cell)) * cell
    new_cell = norm(kept + tf.sigmoid(_peek(i, w_i, cell)) * activation(j))
    new_cell = clipped(new_cell, cell_clip)
    return new_cell, tf.sigmoid(_peek(o, w_o, new_cell)) * activation(new_cell)


def _peek(gate: Any, weights: Any, cell: Any) -> Any:
    return gate if weights is None else gate + weights * cell


def clipped(values: Any, limit: float | None) -> Any:
    """Returns values between `-limit` and `limit`; None: the values."""
    return values if limit is None else tf.clip_by_value(values, -limit, limit)


def columns(inputs: Any) -> int:
    """Returns the number of columns of a matrix.

    Raises:
      ValueError: the number is unknown.
    """
    width = tf.compat.dimension_value(inputs.shape.with_rank(2)[1])
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return int(width)


def known_width(shape: Any) -> int:
    """Returns the last size of a shape.

    Raises:
      ValueError: the size is unknown.
    """
    width = tf.TensorShape(shape).as_list()[-1]
    if width is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return int(width)


def sharded_variable(name: str, shape: Sequence[int], dtype: Any, num_shards: int) -> Any:
    """Returns a matrix whose rows are in the variables NAME_0, NAME_1, ..., one for each shard.

    Raises:
      ValueError: there are more shards than rows.
    """
    if num_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    rows, more = divmod(shape[0], num_shards)
    shards = [
        tf.get_variable(f"{name}_{number}", [rows + (number < more), *shape[1:]], dtype)
        for number in range(num_shards)
    ]
    return shards[0] if num_shards == 1 else tf.concat(shards, 0)


def norm(gain: float, shift: float, inputs: Any, scope: str) -> Any:
    """Returns the inputs after layer normalization, with gamma and beta in a scope."""
    with tf.variable_scope(scope):
        for name, value in (("gamma", gain), ("beta", shift)):
            initializer = tf.constant_initializer(value)
            tf.get_variable(name, [columns(inputs)], inputs.dtype, initializer)
    return layers.layer_norm(inputs, reuse=True, scope=scope)


class _Linear:
    """The map `concat(args) @ kernel + bias`, whose variables are in the current scope.

    Args:
      args: a matrix, or a list of matrices with the same number of rows.
      output_size: number of columns of the outputs.
      build_bias: whether there is a bias.
      bias_initializer: initializer of the bias; None: zeros.
      kernel_initializer: initializer of the kernel; None: that of the scope.

    Raises:
      ValueError: there are no arguments, or they are no matrices of known width.
    """

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        args = _as_list(args)
        for arg in args:
            if arg.shape.rank != 2:
                raise ValueError(f"linear is expecting 2D arguments: {[a.shape for a in args]}")
        dtype = args[0].dtype
        shape = [sum(map(columns, args)), output_size]
        self._weights = tf.get_variable("kernel", shape, dtype, kernel_initializer)
        self._biases = None
        if build_bias:
            with tf.variable_scope(tf.get_variable_scope()) as scope:
                scope.set_partitioner(None)
                initializer = bias_initializer or tf.zeros_initializer()
                self._biases = tf.get_variable("bias", [output_size], dtype, initializer)

    def __call__(self, args: Any) -> Any:
        args = _as_list(args)
        outputs = tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), self._weights)
        return outputs if self._biases is None else tf.nn.bias_add(outputs, self._biases)


def _linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:
    """Returns `concat(args) @ kernel + bias`; see `_Linear` for the arguments."""
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def _as_list(args: Any) -> list[Any]:
    if args is None or (tf.nest.is_nested(args) and not args):
        raise ValueError("`args` must be specified")
    return list(args) if tf.nest.is_nested(args) else [args]


def log_uniform_initializer(low: float, high: float) -> Callable[..., Any]:
    """Returns an initializer of values whose logarithms are uniform."""

    def initialize(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        dtype = dtype or tf.float32
        return tf.exp(tf.random_uniform(shape, math.log(low), math.log(high), dtype))

    return initialize
