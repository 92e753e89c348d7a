"""Small gated cells: UGRNN, intersection RNN, minimal RNN, chaos free network, SRU."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras import activations, initializers
from tensorflow.python.keras.engine.input_spec import InputSpec

from tf_frame_legacy.contrib.rnn.core import LayerRNNCell, RNNCell
from tf_frame_legacy.contrib.rnn.parts import Activation, Sized, _linear, columns, known_width


class UGRNNCell(Sized, RNNCell):
    """An update gate RNN, https://arxiv.org/abs/1611.09913.

    Args:
      num_units: number of units.
      initializer: initializer of the weights; None: that of the scope.
      forget_bias: added to the gate.
      activation: activation of the new input.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._state_size = self._output_size = self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        columns(inputs)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            matrix = _linear(tf.concat([inputs, state], 1), 2 * self._num_units, True)
        gate, new_input = tf.split(matrix, 2, axis=1)
        gate = tf.sigmoid(gate + self._forget_bias)
        state = gate * state + (1.0 - gate) * self._activation(new_input)
        return state, state


class IntersectionRNNCell(Sized, RNNCell):
    """An intersection RNN (+RNN), https://arxiv.org/abs/1611.09913.

    Args:
      num_units: number of units.
      num_in_proj: true, if inputs of another size are projected to `num_units` columns.
      initializer: initializer of the weights; None: that of the scope.
      forget_bias: added to the gates.
      y_activation: activation of the new outputs.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Activation = tf.nn.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._state_size = self._output_size = self._num_units = num_units
        self._num_input_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._y_activation = y_activation

    def call(self, inputs: Any, state: Any) -> Any:
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            inputs = self._projected(inputs)
            matrix = _linear(tf.concat([inputs, state], 1), 4 * self._num_units, True)
        h_gate, h, y_gate, y = tf.split(matrix, 4, axis=1)
        h_gate, y_gate = (tf.sigmoid(gate + self._forget_bias) for gate in (h_gate, y_gate))
        outputs = y_gate * inputs + (1.0 - y_gate) * self._y_activation(y)
        return outputs, h_gate * state + (1.0 - h_gate) * tf.tanh(h)

    def _projected(self, inputs: Any) -> Any:
        if columns(inputs) == self._num_units:
            return inputs
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                "should be set to num_units at cell init."
            )
        with tf.variable_scope("in_projection"):
            return _linear(inputs, self._num_units, True)


class SRUCell(Sized, LayerRNNCell):
    """A simple recurrent unit, https://arxiv.org/abs/1709.02755.

    Args:
      num_units: number of units.
      activation: activation of the state; None: tanh.
      reuse: whether the variables exist.
      name: name of the variable scope.
      **kwargs: arguments of the base class.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._state_size = self._output_size = self._num_units = num_units
        self._activation = activation or tf.tanh
        self.input_spec = InputSpec(ndim=2)

    def build(self, inputs_shape: Any) -> None:
        units = self._num_units
        self._kernel = self.add_weight("kernel", [known_width(inputs_shape), 4 * units])
        zeros = tf.zeros_initializer()
        self._bias = self.add_weight("bias", [2 * units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        new_input, *gates, shortcut = tf.split(tf.matmul(inputs, self._kernel), 4, axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat(gates, 1), self._bias))
        forget, reset = tf.split(gates, 2, axis=1)
        state = forget * state + (1.0 - forget) * new_input
        return reset * self._activation(state) + (1.0 - reset) * shortcut, state


class _KerasNamedCell(Sized, LayerRNNCell):
    """A cell whose activation and initializers may be names."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self._state_size = self._output_size = self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.input_spec = InputSpec(ndim=2)


class MinimalRNNCell(_KerasNamedCell):
    """A minimal RNN, https://arxiv.org/abs/1806.05394.

    Args:
      units: number of units.
      activation: activation of the inputs, a function or its name.
      kernel_initializer, bias_initializer: initializers or their names.
      name: name of the variable scope.
      dtype: type of the variables; None: that of the first inputs.
      **kwargs: arguments of the base class.
    """

    def build(self, inputs_shape: Any) -> None:
        shape = [known_width(inputs_shape) + 2 * self.units, self.units]
        self.kernel = self.add_weight("kernel", shape, initializer=self.kernel_initializer)
        self.bias = self.add_weight("bias", [self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        of_inputs, of_gate = tf.split(self.kernel, [columns(inputs), 2 * self.units])
        new_input = self.activation(tf.matmul(inputs, of_inputs))
        gate = tf.matmul(tf.concat([new_input, state], 1), of_gate)
        gate = tf.sigmoid(tf.nn.bias_add(gate, self.bias))
        state = gate * state + (1 - gate) * new_input
        return state, state


class CFNCell(_KerasNamedCell):
    """A chaos free network, https://arxiv.org/abs/1612.06212; the arguments of `MinimalRNNCell`."""

    def build(self, inputs_shape: Any) -> None:
        units = self.units
        for name, shape, initializer in (
            ("kernel", [known_width(inputs_shape), 3 * units], self.kernel_initializer),
            ("recurrent_kernel", [units, 2 * units], self.kernel_initializer),
            ("bias", [2 * units], self.bias_initializer),
        ):
            setattr(self, name, self.add_weight(name, shape, initializer=initializer))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        sizes = [2 * self.units, self.units]
        of_gates, new_input = tf.split(tf.matmul(inputs, self.kernel), sizes, axis=1)
        gates = tf.nn.bias_add(tf.matmul(state, self.recurrent_kernel) + of_gates, self.bias)
        theta, eta = tf.split(tf.sigmoid(gates), 2, axis=1)
        state = theta * self.activation(state) + (1 - eta) * self.activation(new_input)
        return state, state
