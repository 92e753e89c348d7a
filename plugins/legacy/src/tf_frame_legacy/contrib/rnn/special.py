"""LSTM-like cells with an idea of their own: NAS, phased, convolutional, in groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn.core import LayerRNNCell, LSTMStateTuple, RNNCell
from tf_frame_legacy.contrib.rnn.parts import (
    Activation,
    Sized,
    _linear,
    columns,
    known_width,
    log_uniform_initializer,
    lstm_step,
)


class NASCell(Sized, LayerRNNCell):
    """The cell that a search found, https://arxiv.org/abs/1611.01578, figure 8.

    Args:
      num_units: number of units.
      num_proj: number of columns of the projected outputs; None: no projection.
      use_bias: whether there is a bias.
      reuse: whether the variables exist.
      **kwargs: arguments of the base class.
    """

    _NAS_BASE = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._set_lstm_sizes(num_units, num_proj)
        self._use_bias = use_bias

    def build(self, inputs_shape: Any) -> None:
        width = self._NAS_BASE * self._num_units
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self._output_size, width])
        self.kernel = self.add_weight("kernel", [known_width(inputs_shape), width])
        if self._use_bias:
            self.bias = self.add_weight("bias", [width], initializer=tf.zeros_initializer())
        if self._num_proj is not None:
            shape = [self._num_units, self._num_proj]
            self.projection_weights = self.add_weight("projection_weights", shape)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        of_output = tf.matmul(output, self.recurrent_kernel)
        if self._use_bias:
            of_output = tf.nn.bias_add(of_output, self.bias)
        x = tf.split(tf.matmul(inputs, self.kernel), self._NAS_BASE, axis=1)
        h = tf.split(of_output, self._NAS_BASE, axis=1)
        sigmoid, tanh, relu = tf.sigmoid, tf.tanh, tf.nn.relu
        first = tanh(sigmoid(x[0] + h[0]) * relu(x[1] + h[1]))
        second = tanh(sigmoid(x[2] + h[2]) + relu(x[3] * h[3]))
        third = tanh(tanh(x[4] + h[4]) * sigmoid(x[5] + h[5]))
        fourth = sigmoid(tanh(x[6] + h[6]) + sigmoid(x[7] + h[7]))
        cell = tanh(first + cell) * second
        output = tanh(cell * tanh(third + fourth))
        if self._num_proj is not None:
            output = tf.matmul(output, self.projection_weights)
        return output, LSTMStateTuple(cell, output)


class PhasedLSTMCell(Sized, RNNCell):
    """An LSTM that is open for a part of each period only, https://arxiv.org/abs/1610.09513.

    Its inputs are a tuple of times, `[batch, 1]`, and features, `[batch, columns]`.

    Args:
      num_units: number of units.
      use_peepholes: whether the gates see the cell state.
      leak: how open a closed unit is.
      ratio_on: initial share of the period in which a unit is open.
      trainable_ratio_on: whether the share is trained.
      period_init_min, period_init_max: limits of the initial periods.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._set_lstm_sizes(num_units)
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_initializer = log_uniform_initializer(period_init_min, period_init_max)

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        time, features = inputs
        seen = [features, output]
        gates = self._gate("mask_gates", seen, cell, 2 * self._num_units)
        input_gate, forget_gate = tf.split(gates, 2, axis=1)
        with tf.variable_scope("new_input"):
            new_input = tf.tanh(_linear(seen, self._num_units, True))
        new_cell = cell * forget_gate + input_gate * new_input
        output_gate = self._gate("output_gate", seen, new_cell, self._num_units)
        openness = self._openness(time)
        new_output = tf.tanh(new_cell) * output_gate
        new_cell = openness * new_cell + (1 - openness) * cell
        new_output = openness * new_output + (1 - openness) * output
        return new_output, LSTMStateTuple(new_cell, new_output)

    def _gate(self, scope: str, seen: list[Any], cell: Any, width: int) -> Any:
        with tf.variable_scope(scope):
            return tf.sigmoid(_linear(seen + [cell] * self._use_peepholes, width, True))

    def _openness(self, time: Any) -> Any:
        """Returns the time gate of equation 4, from 0 to 1, `[batch, num_units]`."""
        shape = [self._num_units]
        period = tf.get_variable("period", shape, initializer=self._period_initializer)
        uniform = tf.random_uniform_initializer(0.0, period.initial_value)
        phase = tf.get_variable("phase", shape, initializer=uniform)
        ratio_on = tf.get_variable(
            "ratio_on",
            shape,
            initializer=tf.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        in_cycle = _cycle_ratio(time, tf.cast(phase, time.dtype), tf.cast(period, time.dtype))
        rising = 2 * in_cycle / ratio_on
        late = tf.where(in_cycle < ratio_on, 2 - rising, self._leak * in_cycle)
        return tf.where(in_cycle < 0.5 * ratio_on, rising, late)


def _cycle_ratio(time: Any, phase: Any, period: Any) -> Any:
    """Returns the place in the period, 0 to 1; its gradient is that of a straight line."""
    shifted = time - phase
    remainder = tf.stop_gradient(tf.mod(shifted, period) - shifted) + shifted
    return tf.cast(remainder / period, tf.float32)


class ConvLSTMCell(Sized, RNNCell):
    """An LSTM of images, https://arxiv.org/abs/1506.04214, without peepholes.

    Args:
      conv_ndims: number of axes of the convolution, 1, 2 or 3.
      input_shape: sizes of an example, the channels last, such as `[height, width, channels]`.
      output_channels: number of channels of the state.
      kernel_shape: sizes of the kernel.
      use_bias: whether there is a bias.
      skip_connection: whether the inputs are appended to the outputs.
      forget_bias: added to the forget gate.
      initializers: does nothing, as in the original.
      name: name of the variable scope.

    Raises:
      ValueError: `input_shape` does not have `conv_ndims` axes and one of channels.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        *sizes, channels = input_shape
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._skip_connection = skip_connection
        self._forget_bias = forget_bias
        state = tf.TensorShape([*sizes, output_channels])
        self._state_size = LSTMStateTuple(state, state)
        self._output_size = tf.TensorShape([*sizes, output_channels + channels * skip_connection])

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        cell, hidden = state
        gates = tf.split(self._convolution(tf.concat([inputs, hidden], -1)), 4, axis=-1)
        cell, output = lstm_step(gates, cell, forget_bias=self._forget_bias)
        if self._skip_connection:
            output = tf.concat([output, inputs], -1)
        return output, LSTMStateTuple(cell, output)

    def _convolution(self, images: Any) -> Any:
        channels = 4 * self._output_channels
        shape = [*self._kernel_shape, images.shape.as_list()[-1], channels]
        outputs = tf.nn.convolution(images, tf.get_variable("kernel", shape, images.dtype), "SAME")
        if not self._use_bias:
            return outputs
        zeros = tf.zeros_initializer()
        return outputs + tf.get_variable("biases", [channels], images.dtype, zeros)


class Conv1DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of series, `[batch, length, channels]`."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of images, `[batch, height, width, channels]`."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of volumes, `[batch, depth, height, width, channels]`."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)


class GLSTMCell(Sized, RNNCell):
    """An LSTM whose units are in groups of their own weights, https://arxiv.org/abs/1703.10722.

    Args:
      num_units: number of units.
      initializer: initializer of the weights; None: that of the scope.
      num_proj: number of columns of the projected outputs; None: no projection.
      number_of_groups: number of groups; it divides `num_units`, `num_proj` and the columns of
        the inputs.
      forget_bias: added to the forget gate.
      activation: activation of the cell state.
      reuse: whether the variables exist.

    Raises:
      ValueError: `number_of_groups` does not divide a size.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._set_lstm_sizes(num_units, num_proj)
        self._initializer = initializer
        self._number_of_groups = number_of_groups
        self._forget_bias = forget_bias
        self._activation = activation
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")

    def call(self, inputs: Any, state: Any) -> Any:
        cell, output = state
        if columns(inputs) % self._number_of_groups:
            raise ValueError(
                f"input size ({columns(inputs)}) must be divisible by number_of_groups "
                f"({self._number_of_groups})"
            )
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, output)
        cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        output = tf.sigmoid(o) * self._activation(cell)
        if self._num_proj is not None:
            with tf.variable_scope("projection"):
                output = _linear(output, self._num_proj, False)
        return output, LSTMStateTuple(cell, output)

    def _gates(self, inputs: Any, output: Any) -> list[Any]:
        groups = self._number_of_groups
        parts = []
        split = tf.split(inputs, groups, 1), tf.split(output, groups, 1)
        for group, rows in enumerate(zip(*split, strict=True)):
            with tf.variable_scope(f"group{group}"):
                matrix = _linear(list(rows), 4 * self._num_units // groups, False)
            parts.append(tf.split(matrix, 4, axis=1))
        return list(map(self._biased, "ijfo", zip(*parts, strict=True)))

    def _biased(self, name: str, parts: Sequence[Any]) -> Any:
        gate = tf.concat(parts, 1)
        zeros = tf.zeros_initializer()
        bias = tf.get_variable(f"bias_{name}", [self._num_units], gate.dtype, zeros)
        return tf.nn.bias_add(gate, bias)
