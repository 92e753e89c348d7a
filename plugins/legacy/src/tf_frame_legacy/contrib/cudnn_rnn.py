"""`tf.contrib.cudnn_rnn` without cuDNN: layers and cells with its equations, on any device.

The layers keep their weights in the variables that a checkpoint of the original has, such as
`cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/kernel`. The original trained one
variable `opaque_kernel` with a layout of cuDNN's; there is none here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn import GRUCell, LSTMBlockCell
from tf_frame_legacy.contrib.rnn.block import run_block_lstm
from tf_frame_legacy.contrib.rnn.parts import known_width
from tf_frame_legacy.layers.base import Layer

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"
CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"
_INPUT_MODES = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell that equals `CudnnLSTM`, with its variables; it has no forget bias.

    Args:
      num_units: number of units.
      reuse: whether the variables exist.
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        name = "cudnn_compatible_lstm_cell"
        super().__init__(num_units, forget_bias=0.0, reuse=reuse, name=name)


class CudnnCompatibleGRUCell(GRUCell):
    """The cell that equals `CudnnGRU`, with its variables.

    Unlike `GRUCell`, the reset gate is applied after the map of the state.

    Args:
      num_units: number of units.
      reuse: whether the variables exist.
      kernel_initializer: initializer of the weights; None: that of the scope.
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        width, units = known_width(inputs_shape), self._num_units
        kernel, ones, zeros = self._kernel_initializer, tf.ones_initializer, tf.zeros_initializer
        self._weights = [
            self.add_weight(name, shape, initializer=initializer)
            for name, shape, initializer in (
                ("gates/kernel", [width + units, 2 * units], kernel),
                ("gates/bias", [2 * units], ones()),
                ("candidate/input_projection/kernel", [width, units], kernel),
                ("candidate/hidden_projection/kernel", [units, units], kernel),
                ("candidate/input_projection/bias", [units], zeros()),
                ("candidate/hidden_projection/bias", [units], zeros()),
            )
        ]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        kernel, bias, of_input, of_hidden, input_bias, hidden_bias = self._weights
        gates = tf.nn.xw_plus_b(tf.concat([inputs, state], 1), kernel, bias)
        candidate = tf.nn.xw_plus_b(inputs, of_input, input_bias)
        hidden = tf.nn.xw_plus_b(state, of_hidden, hidden_bias)
        state = _gru_step(gates, candidate, hidden, state)
        return state, state


def _gru_step(gates: Any, candidate: Any, hidden: Any, state: Any) -> Any:
    reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
    return (1 - update) * tf.tanh(candidate + reset * hidden) + update * state


class _CudnnRNN(Layer):
    """Layers of cells, in one or both directions.

    Args:
      num_layers: number of layers.
      num_units: number of units.
      input_mode: "linear_input"; "auto_select" is the same where `num_units` is not the number of
        columns.
      direction: "unidirectional" or "bidirectional".
      dropout: share of each layer's outputs, but for the last one's, that is dropped in training.
      seed: seed of the initializer and of the dropout.
      dtype: type of the variables.
      kernel_initializer: initializer of each gate's matrices, `[num_units, columns]`; None: Glorot
        uniform.
      bias_initializer: initializer of the biases; None: zeros.
      name: name of the variable scope.

    Raises:
      ValueError: an argument has a value that is not offered.
    """

    _cell_name: str
    _states = 1
    _dtypes: tuple[Any, ...] = (tf.float16, tf.float32, tf.float64)

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError(
                f"Invalid direction: {direction}, expecting {CUDNN_RNN_UNIDIRECTION} or "
                f"{CUDNN_RNN_BIDIRECTION}"
            )
        if input_mode not in _INPUT_MODES:
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of {_INPUT_MODES}")
        if tf.as_dtype(dtype) not in self._dtypes:
            raise ValueError(f"Only support {[d.name for d in self._dtypes]}, provided {dtype}")
        self.num_layers = num_layers
        self.num_units = num_units
        self.input_mode = input_mode
        self.direction = direction
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer or tf.glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or tf.zeros_initializer()

    @property
    def num_dirs(self) -> int:
        """Number of directions."""
        return 1 if self.direction == CUDNN_RNN_UNIDIRECTION else 2

    @property
    def input_size(self) -> int:
        """Number of columns of the inputs.

        Raises:
          ValueError: the layer has no variables yet.
        """
        if not self.built:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """Returns the shapes of the states."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._states

    def build(self, input_shape: Any) -> None:
        if self.built:
            return
        self._input_size = width = known_width(tf.TensorShape(input_shape).with_rank(3))
        if self.input_mode != CUDNN_INPUT_LINEAR_MODE and (
            self.input_mode == CUDNN_INPUT_SKIP_MODE or width == self.num_units
        ):
            raise ValueError(f"The first layer of {self.name} needs input_mode='linear_input'")
        self._cells = []
        for layer in range(self.num_layers):
            self._cells.append([self._variables_of(width, p) for p in self._prefixes(layer)])
            width = self.num_dirs * self.num_units
        self.built = True

    def _prefixes(self, layer: int) -> Iterator[str]:
        """Yields the beginning of the names of a layer's variables, for each direction."""
        if self.num_dirs == 1:
            yield f"rnn/multi_rnn_cell/cell_{layer}/{self._cell_name}"
            return
        for direction in ("fw", "bw"):
            scope = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{direction}"
            yield f"{scope}/{self._cell_name}"

    def _variables_of(self, width: int, prefix: str) -> list[Any]:
        raise NotImplementedError

    def _kernel(self, name: str, widths: list[int], gates: int = 1) -> Any:
        """Makes a kernel `[sum of widths, gates * num_units]`, each gate's parts by themselves."""

        def initialize(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            parts = [
                [self._kernel_initializer([self.num_units, w], dtype=dtype) for w in widths]
                for _ in range(gates)
            ]
            return tf.transpose(tf.concat([tf.concat(part, 1) for part in parts], 0))

        return self._variable(name, [sum(widths), gates * self.num_units], initialize)

    def _bias(self, name: str, gates: int = 1, copies: int = 2) -> Any:
        """Makes a bias; cuDNN adds two to a gate, one of the inputs and one of the state."""

        def initialize(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.add_n([self._bias_initializer(shape, dtype=dtype) for _ in range(copies)])

        return self._variable(name, [gates * self.num_units], initialize)

    def _variable(self, name: str, shape: list[int], initializer: Callable[..., Any]) -> Any:
        # In the current scope, not in the layer's: that is where `build` called by itself made it.
        variable = tf.get_variable(name, shape, tf.as_dtype(self.dtype), initializer)
        self._own(variable, True)
        return variable

    def call(
        self,
        inputs: Any,
        initial_state: tuple[Any, ...] | None = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Any, tuple[Any, ...]]:
        """Returns outputs and final states.

        Args:
          inputs: `[time, batch, columns]`; `[batch, time, columns]` unless `time_major`.
          initial_state: tuple of states, `[layers * directions, batch, num_units]`, or
            `[batch, layers * directions, num_units]` unless `time_major`; for `CudnnLSTM` the
            output and the cell state, otherwise the output. None: zeros.
          sequence_lengths: steps of each example, `[batch]`; None: all steps.
          time_major: whether time is the first axis.
          training: whether outputs are dropped.

        Raises:
          TypeError: `initial_state` is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        major = (lambda tensor: tensor) if time_major else _swap_axes
        series = major(tf.convert_to_tensor(inputs, tf.as_dtype(self.dtype)))
        if initial_state is None:
            shapes = self.state_shape(tf.shape(series)[1])
            states = [tf.zeros(shape, series.dtype) for shape in shapes]
        else:
            states = [major(tf.convert_to_tensor(state, series.dtype)) for state in initial_state]
        outputs, states = self._run(series, states, sequence_lengths, training)
        return major(outputs), tuple(map(major, states))

    def _run(self, series: Any, states: list[Any], lengths: Any, training: bool) -> Any:
        cells = self.num_layers * self.num_dirs
        states = list(zip(*(tf.unstack(state, cells) for state in states), strict=True))
        final_states = []
        for number, directions in enumerate(self._cells):
            if number and training and self._dropout:
                series = tf.nn.dropout(series, rate=self._dropout, seed=self._seed)
            outputs = []
            for direction, variables in enumerate(directions):
                ordered = _reverse(series, lengths) if direction else series
                result, final = self._unroll(variables, ordered, states.pop(0), lengths)
                outputs.append(_reverse(result, lengths) if direction else result)
                final_states.append(final)
            series = tf.concat(outputs, 2)
        return series, [tf.stack(state) for state in zip(*final_states, strict=True)]

    def _unroll(self, variables: Any, series: Any, state: Any, lengths: Any) -> Any:
        """Returns the outputs of a direction of a layer, and its final states."""
        steps, step = self._step(variables, series)
        seen = tf.ones(tf.shape(series)[:2], tf.bool)
        if lengths is not None:
            seen = tf.transpose(tf.sequence_mask(lengths, tf.shape(series)[0]))

        def advance(last: Any, now: Any) -> Any:
            seen, *step_inputs = now
            return tf.where(seen, step(last, *step_inputs), last)

        outputs = tf.scan(advance, (seen, *steps), initializer=state[0])
        return outputs * tf.cast(seen, outputs.dtype)[:, :, None], [outputs[-1]]

    def _step(self, variables: Any, series: Any) -> tuple[list[Any], Callable[..., Any]]:
        """Returns what the steps read, `[time, batch, ...]`, and a function of a step."""
        raise NotImplementedError


def _swap_axes(tensor: Any) -> Any:
    return tf.transpose(tensor, [1, 0, 2])


def _reverse(series: Any, lengths: Any) -> Any:
    if lengths is None:
        return tf.reverse(series, [0])
    return tf.reverse_sequence(series, lengths, seq_axis=0, batch_axis=1)


def _project(series: Any, kernel: Any, bias: Any) -> Any:
    """Maps all steps at once."""
    return tf.nn.bias_add(tf.tensordot(series, kernel, [[2], [0]]), bias)


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTMs without forget bias; see `_CudnnRNN` for the arguments."""

    _cell_name = "cudnn_compatible_lstm_cell"
    _states = 2
    _dtypes = (tf.float16, tf.float32)

    def _variables_of(self, width: int, prefix: str) -> list[Any]:
        kernel = self._kernel(f"{prefix}/kernel", [width, self.num_units], 4)
        return [kernel, self._bias(f"{prefix}/bias", 4)]

    def _unroll(self, variables: Any, series: Any, state: Any, lengths: Any) -> Any:
        output, cell = state
        outputs, final = run_block_lstm(series, (cell, output), lengths, *variables)
        return outputs, [final.h, final.c]


class CudnnGRU(_CudnnRNN):
    """Layers of GRUs; see `_CudnnRNN` for the arguments."""

    _cell_name = "cudnn_compatible_gru_cell"

    def _variables_of(self, width: int, prefix: str) -> list[Any]:
        units = self.num_units
        of_input, of_hidden = (f"{prefix}/candidate/{p}_projection" for p in ("input", "hidden"))
        return [
            self._kernel(f"{prefix}/gates/kernel", [width, units], 2),
            self._kernel(f"{of_input}/kernel", [width]),
            self._kernel(f"{of_hidden}/kernel", [units]),
            self._bias(f"{prefix}/gates/bias", 2),
            self._bias(f"{of_input}/bias", copies=1),
            self._bias(f"{of_hidden}/bias", copies=1),
        ]

    def _step(self, variables: Any, series: Any) -> tuple[list[Any], Callable[..., Any]]:
        kernel, of_input, of_hidden, bias, input_bias, hidden_bias = variables
        input_kernel, state_kernel = tf.split(kernel, [-1, self.num_units])
        projected = _project(series, input_kernel, bias), _project(series, of_input, input_bias)

        def step(state: Any, gates: Any, candidate: Any) -> Any:
            hidden = tf.nn.xw_plus_b(state, of_hidden, hidden_bias)
            return _gru_step(gates + tf.matmul(state, state_kernel), candidate, hidden, state)

        return list(projected), step


class _CudnnBasicRNN(_CudnnRNN):
    _cell_name = "basic_rnn_cell"
    _activation: Callable[[Any], Any]

    def _variables_of(self, width: int, prefix: str) -> list[Any]:
        kernel = self._kernel(f"{prefix}/kernel", [width, self.num_units])
        return [kernel, self._bias(f"{prefix}/bias")]

    def _step(self, variables: Any, series: Any) -> tuple[list[Any], Callable[..., Any]]:
        kernel, bias = variables
        input_kernel, state_kernel = tf.split(kernel, [-1, self.num_units])

        def step(state: Any, projected: Any) -> Any:
            return type(self)._activation(projected + tf.matmul(state, state_kernel))

        return [_project(series, input_kernel, bias)], step


class CudnnRNNTanh(_CudnnBasicRNN):
    """Layers of plain cells with tanh; see `_CudnnRNN` for the arguments."""

    _activation = staticmethod(tf.tanh)


class CudnnRNNRelu(_CudnnBasicRNN):
    """Layers of plain cells with ReLU; see `_CudnnRNN` for the arguments."""

    _activation = staticmethod(tf.nn.relu)
