"""LSTM and GRU cells that are one operation each, and an LSTM that is one for the whole series."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.engine.input_spec import InputSpec

from tf_frame_legacy.contrib.rnn.core import LayerRNNCell, LSTMStateTuple
from tf_frame_legacy.contrib.rnn.parts import Sized, known_width
from tf_frame_legacy.layers.base import Layer


class LSTMBlockCell(Sized, LayerRNNCell):
    """An LSTM in one operation, https://arxiv.org/abs/1409.2329, with the variables of `LSTMCell`.

    Args:
      num_units: number of units.
      forget_bias: added to the forget gate.
      cell_clip: limit of the cell state; None: no limit.
      use_peephole: whether the gates see the cell state.
      dtype: type of the variables; None: that of the first inputs.
      reuse: whether the variables exist.
      name: name of the variable scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._set_lstm_sizes(num_units)
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=2)

    def build(self, inputs_shape: Any) -> None:
        _add_lstm_variables(self, inputs_shape)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        cell, output = state
        _, cell, *_, output = tf.raw_ops.LSTMBlockCell(
            x=inputs, cs_prev=cell, h_prev=output, **_lstm_arguments(self, inputs.dtype)
        )
        return output, LSTMStateTuple(cell, output)


def _add_lstm_variables(layer: Any, inputs_shape: Any) -> None:
    units = layer._num_units
    shape = [known_width(inputs_shape) + units, 4 * units]
    layer._kernel = layer.add_weight("kernel", shape)
    zeros = tf.zeros_initializer()
    layer._bias = layer.add_weight("bias", [4 * units], initializer=zeros)
    for gate in "ifo" if layer._use_peephole else "":
        name = f"w_{gate}_diag"
        setattr(layer, f"_{name}", layer.add_weight(name, [units]))


def _lstm_arguments(layer: Any, dtype: Any) -> dict[str, Any]:
    """Returns the arguments that LSTMBlockCell and BlockLSTM have in common."""
    zeros = None if layer._use_peephole else tf.zeros([layer._num_units], dtype)
    peepholes = {f"wc{gate}": getattr(layer, f"_w_{gate}_diag", zeros) for gate in "ifo"}
    return {
        "w": layer._kernel,
        "b": layer._bias,
        "forget_bias": layer._forget_bias,
        "cell_clip": layer._cell_clip,
        "use_peephole": layer._use_peephole,
        **peepholes,
    }


class LSTMBlockWrapper(Layer):
    """An LSTM for a whole series; subclasses have `num_units` and `_call_cell`."""

    @property
    def num_units(self) -> int:
        """Number of units."""
        raise NotImplementedError

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:
        """Returns the cell states and the outputs of all steps, `[time, batch, num_units]`."""
        raise NotImplementedError

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns outputs and final state.

        Args:
          inputs: `[time, batch, columns]`, or a list of a tensor for each step.
          *args, **kwargs: `initial_state`, a tuple of cell state and output, each
            `[batch, num_units]`; None: zeros; `dtype`, of the zeros; `sequence_length`, the steps
            of each example, `[batch]`; None: all steps.

        Returns:
          Outputs `[time, batch, num_units]` or a list, and an LSTMStateTuple.

        Raises:
          ValueError: neither `initial_state` nor `dtype` is given; or a shape is wrong.
        """
        if not isinstance(inputs, list):
            return super().__call__(inputs, *args, **kwargs)
        outputs, state = super().__call__(tf.stack(inputs), *args, **kwargs)
        return tf.unstack(outputs), state

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            initial_state = (tf.zeros([tf.shape(inputs)[1], self.num_units], dtype),) * 2
        if len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = initial_state[0].dtype if dtype is None else dtype
        cell, output = initial_state
        series = self._call_cell(inputs, cell, output, dtype, sequence_length)
        return _without_padding(initial_state, series, sequence_length)


def _without_padding(initial_state: Any, series: Any, lengths: Any) -> tuple[Any, LSTMStateTuple]:
    """Returns outputs with zeros after the end of each example, and the states at the end."""
    cells, outputs = series
    if lengths is None:
        return outputs, LSTMStateTuple(cells[-1], outputs[-1])
    mask = tf.transpose(tf.sequence_mask(lengths, tf.shape(outputs)[0], outputs.dtype))
    final = [_at(lengths, *states) for states in zip(initial_state, series, strict=True)]
    return outputs * mask[:, :, None], LSTMStateTuple(*final)


def _at(lengths: Any, initial_state: Any, states: Any) -> Any:
    """Returns the state after the last step of each example; after none, the initial state."""
    states = tf.concat([initial_state[None], states], 0)
    lengths = tf.cast(lengths, tf.int32)
    return tf.gather_nd(states, tf.stack([lengths, tf.range(tf.shape(lengths)[0])], 1))


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM in one operation for the whole series, faster than `LSTMBlockCell` step by step.

    Args:
      num_units, forget_bias, cell_clip, use_peephole, reuse, dtype: see `LSTMBlockCell`.
      name: name of the variable scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self) -> int:
        """Number of units."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        _add_lstm_variables(self, tf.TensorShape(input_shape).with_rank(3))

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:
        state = initial_cell_state, initial_output
        arguments = _lstm_arguments(self, dtype)
        return _block_lstm(inputs, state, sequence_length, **arguments)


def _block_lstm(inputs: Any, state: Any, lengths: Any, **arguments: Any) -> tuple[Any, Any]:
    steps = tf.shape(inputs)[0] if lengths is None else tf.reduce_max(lengths)
    _, cells, *_, outputs = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.cast(steps, tf.int64),
        x=inputs,
        cs_prev=state[0],
        h_prev=state[1],
        **arguments,
    )
    return cells, outputs


def run_block_lstm(
    inputs: Any, state: Any, lengths: Any, kernel: Any, bias: Any
) -> tuple[Any, LSTMStateTuple]:
    """Returns outputs and final state of an LSTM without forget bias.

    Args:
      inputs: `[time, batch, columns]`.
      state: cell state and output, each `[batch, units]`.
      lengths: steps of each example, `[batch]`; None: all steps.
      kernel, bias: the variables, in the layout of `LSTMBlockCell`.
    """
    no_peephole = dict.fromkeys(("wci", "wcf", "wco"), tf.zeros([bias.shape[0] // 4], inputs.dtype))
    arguments = {"forget_bias": 0.0, "cell_clip": -1, "use_peephole": False, **no_peephole}
    series = _block_lstm(inputs, state, lengths, w=kernel, b=bias, **arguments)
    return _without_padding(state, series, lengths)


class GRUBlockCell(Sized, LayerRNNCell):
    """A GRU in one operation, https://arxiv.org/abs/1406.1078; its variables are `w_ru`, `b_ru`...

    Args:
      num_units: number of units.
      cell_size: the old name of `num_units`.
      reuse: whether the variables exist.
      name: name of the variable scope.

    Raises:
      ValueError: `num_units` and `cell_size` are both given, or none of them.
    """

    _names: Sequence[str] = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        units: Any = num_units or cell_size
        self._cell_size = self._state_size = self._output_size = units
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: Any) -> None:
        units = self._cell_size
        rows = known_width(input_shape) + units
        w_ru, b_ru, w_c, b_c = self._names
        self._gates = self.add_weight(w_ru, [rows, 2 * units])
        ones, zeros = map(tf.constant_initializer, (1.0, 0.0))
        self._gate_bias = self.add_weight(b_ru, [2 * units], initializer=ones)
        self._candidate = self.add_weight(w_c, [rows, units])
        self._candidate_bias = self.add_weight(b_c, [units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:
        h_prev.shape.assert_is_compatible_with([None, self._cell_size])
        *_, output = tf.raw_ops.GRUBlockCell(
            x=inputs,
            h_prev=h_prev,
            w_ru=self._gates,
            w_c=self._candidate,
            b_ru=self._gate_bias,
            b_c=self._candidate_bias,
        )
        return output, output


class GRUBlockCellV2(GRUBlockCell):
    """A `GRUBlockCell` with the variables of `GRUCell`."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


def _lstm_gradient(op: Any, *grads: Any) -> Sequence[Any]:
    """The gradients of LSTMBlockCell; TensorFlow 2 has none."""
    names = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    inputs = dict(zip(names, op.inputs, strict=True))
    outputs = dict(zip(("i", "cs", "f", "o", "ci", "co"), op.outputs[:-1], strict=True))
    cell_gradient, gates, *peepholes = tf.raw_ops.LSTMBlockCellGrad(
        **inputs,
        **outputs,
        cs_grad=grads[1],
        h_grad=grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    rows = tf.concat([inputs["x"], inputs["h_prev"]], 1)
    of_x, of_h = _split_like(tf.matmul(gates, inputs["w"], transpose_b=True), inputs["x"])
    of_w = tf.matmul(rows, gates, transpose_a=True)
    return of_x, cell_gradient, of_h, of_w, *peepholes, tf.reduce_sum(gates, 0)


def _gru_gradient(op: Any, *grads: Any) -> Sequence[Any]:
    """The gradients of GRUBlockCell; TensorFlow 2 has none."""
    names = ("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c")
    inputs = dict(zip(names, op.inputs, strict=True))
    reset, update, candidate, _ = op.outputs
    of_x, of_h, of_candidate, of_gates = tf.raw_ops.GRUBlockCellGrad(
        **inputs, r=reset, u=update, c=candidate, d_h=grads[3]
    )
    rows = tf.concat([inputs["x"], inputs["h_prev"]], 1)
    reset_rows = tf.concat([inputs["x"], inputs["h_prev"] * reset], 1)
    of_w_ru = tf.matmul(rows, of_gates, transpose_a=True)
    of_w_c = tf.matmul(reset_rows, of_candidate, transpose_a=True)
    sums = tf.reduce_sum(of_gates, 0), tf.reduce_sum(of_candidate, 0)
    return of_x, of_h, of_w_ru, of_w_c, *sums


def _split_like(values: Any, first: Any) -> Sequence[Any]:
    """Splits columns into those of the first inputs and the rest."""
    width = tf.compat.dimension_value(first.shape[1])
    return values[:, :width], values[:, width:]


def _register(operation: str, gradient: Callable[..., Any]) -> None:
    # Another package may have registered the gradient.
    with contextlib.suppress(KeyError):
        tf.RegisterGradient(operation)(gradient)


_register("LSTMBlockCell", _lstm_gradient)
_register("GRUBlockCell", _gru_gradient)
