"""LSTMs over time and frequency: the columns of the inputs are cut into overlapping blocks."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn.core import RNNCell
from tf_frame_legacy.contrib.rnn.parts import (
    Sized,
    clipped,
    columns,
    lstm_step,
    sharded_variable,
)


class TimeFreqLSTMCell(Sized, RNNCell):
    """An LSTM over time that runs over the frequencies, too; the source is Sainath and Li, 2016.

    The state is `[batch, frequencies * 2 * num_units]`.

    Args:
      num_units: number of units.
      use_peepholes: whether the gates see the cell state.
      cell_clip: limit of the cell state; None: no limit.
      initializer: does nothing, as in the original.
      num_unit_shards: number of variables that the weights are kept in.
      forget_bias: added to the forget gate.
      feature_size: number of columns of a frequency.
      frequency_skip: number of columns from a frequency to the next.
      reuse: whether the variables exist.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = self._output_size = num_units
        self._state_size = 2 * num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    def call(self, inputs: Any, state: Any) -> Any:
        blocks = _blocks(inputs, 0, columns(inputs), self._feature_size, self._frequency_skip)
        states = tf.split(state, 2 * len(blocks), axis=1)
        weights, bias, peepholes = self._variables(columns(blocks[0]), inputs.dtype)
        last_frequency = tf.zeros_like(states[0])
        outputs, new_states = [], []
        for block, cell, output in zip(blocks, states[::2], states[1::2], strict=True):
            rows = tf.concat([block, output, last_frequency], 1)
            cell, last_frequency = lstm_step(
                tf.split(tf.nn.bias_add(tf.matmul(rows, weights), bias), 4, axis=1),
                cell,
                forget_bias=self._forget_bias,
                peepholes=peepholes,
                cell_clip=self._cell_clip,
            )
            outputs.append(last_frequency)
            new_states += [cell, last_frequency]
        return tf.concat(outputs, 1), tf.concat(new_states, 1)

    def _variables(self, width: int, dtype: Any) -> Any:
        units = self._num_units
        shape = [width + 2 * units, 4 * units]
        weights = sharded_variable("W", shape, dtype, self._num_unit_shards)
        bias = tf.get_variable("B", [4 * units], dtype, tf.zeros_initializer())
        if not self._use_peepholes:
            return weights, bias, (None, None, None)
        diagonals = {g: tf.get_variable(f"W_{g}_diag", [units], dtype) for g in "FIO"}
        return weights, bias, [diagonals[gate] for gate in "IFO"]


def _blocks(
    inputs: Any, start: int, end: int, size: int | None, skip: int | None, number: int | None = None
) -> list[Any]:
    """Cuts columns into blocks; `number` is the number that the user expects."""
    if size is None or skip is None:
        raise ValueError("feature_size and frequency_skip must be given")
    blocks = int((end - start - size) / skip) + 1
    if number not in (None, blocks):
        raise ValueError(
            f"Invalid num_frequency_blocks, requires {number} but gets {blocks}, please check "
            "the input size and filter config are correct."
        )
    starts = (start + block * skip for block in range(blocks))
    return [inputs[:, first : first + size] for first in starts]


class GridLSTMCell(Sized, RNNCell):
    """A grid LSTM over time and frequency, https://arxiv.org/abs/1507.01526.

    Args:
      num_units: number of units.
      use_peepholes: whether the gates see the cell states.
      share_time_frequency_weights: whether time and frequency have the same weights.
      cell_clip: limit of the cell states; None: no limit.
      initializer: does nothing, as in the original.
      num_unit_shards: number of variables that the weights are kept in.
      forget_bias: added to the forget gates.
      feature_size: number of columns of a frequency.
      frequency_skip: number of columns from a frequency to the next.
      num_frequency_blocks: number of frequencies of each block of columns.
      start_freqindex_list, end_freqindex_list: first column of each block, and the column after
        it; None: one block of all columns.
      couple_input_forget_gates: whether the forget gates are one minus the input gates.
      state_is_tuple: whether the state is a tuple with names such as `state_f00_b00_c`; False: its
        parts are concatenated.
      reuse: whether the variables exist.

    Raises:
      ValueError: the blocks contradict each other, or the inputs.
    """

    _directions: Sequence[str] = ("state",)

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._num_frequency_blocks = num_frequency_blocks
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._couple_input_forget_gates = couple_input_forget_gates
        names = [name for d in self._directions for name in self._state_names(d)]
        self._output_size = self._state_size = num_units * len(names)
        self._state_tuple_type: Any = None
        if state_is_tuple:
            name = f"{type(self).__name__.removesuffix('Cell')}StateTuple"
            state_type: Any = collections.namedtuple(name, names)  # type: ignore[misc]
            self._state_tuple_type = state_type
            self._state_size = state_type(*[num_units] * len(names))

    @property
    def state_tuple_type(self) -> Any:
        """The class of the state; None if the state is one tensor."""
        return self._state_tuple_type

    def _state_names(self, direction: str) -> Iterator[str]:
        for block, frequencies in enumerate(self._num_frequency_blocks):
            for frequency in range(int(frequencies)):
                yield from (f"{direction}_f{frequency:02}_b{block:02}_{part}" for part in "cm")

    def call(self, inputs: Any, state: Any) -> Any:
        if self._state_tuple_type is None:
            state = tf.split(state, self._state_size // self._num_units, axis=1)
        outputs, states = self._run(self._blocks(inputs), state)
        if self._state_tuple_type is None:
            return tf.concat(outputs, 1), tf.concat(states, 1)
        return tf.concat(outputs, 1), self._state_tuple_type(*states)

    def _blocks(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """Cuts the columns into blocks of frequencies, after a shift by `offset` columns."""
        width = columns(inputs)
        starts, ends = self._start_freqindex_list or [0], self._end_freqindex_list or [width]
        if not len(starts) == len(ends) == len(self._num_frequency_blocks):
            raise ValueError(
                "num_frequency_blocks, start_freqindex_list and end_freqindex_list must have the "
                f"same length, got {self._num_frequency_blocks}, {starts} and {ends}"
            )
        inputs = tf.pad(inputs, [[0, 0], [max(-offset, 0), max(offset, 0)]])
        shift = max(offset, 0)
        return [
            _blocks(
                inputs, start + shift, end + shift, self._feature_size, self._frequency_skip, number
            )
            for start, end, number in zip(starts, ends, self._num_frequency_blocks, strict=True)
        ]

    def _run(self, blocks: list[list[Any]], states: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Returns outputs and new states, each of time and frequency in turn."""
        outputs, new_states = [], []
        states = list(states)
        for number, frequencies in enumerate(blocks):
            weights = _GridWeights(self, number, columns(frequencies[0]), frequencies[0].dtype)
            cell_f = output_f = tf.zeros_like(states[0])
            for frequency in frequencies:
                cell_t, output_t = states.pop(0), states.pop(0)
                rows = tf.concat([frequency, output_t, output_f], 1)
                cells = weights.cells(rows, cell_f, cell_t)
                cell_f, cell_t, output_f, output_t = cells
                outputs += [output_t, output_f]
                new_states += [cell_t, output_t]
        return outputs, new_states


class _GridWeights:
    """The variables of a block, and a step with them."""

    def __init__(self, cell: Any, block: int, width: int, dtype: Any) -> None:
        self._cell = cell
        gates = "IO" if cell._couple_input_forget_gates else "FIO"
        units = cell._num_units
        shape = [width + 2 * units, (len(gates) + 1) * units]
        directions = ["freq"] if cell._share_time_frequency_weights else ["freq", "time"]
        self._maps, self._peepholes = {}, {}
        for direction in directions:
            name = f"{direction[0]}_{block}"
            weights = sharded_variable(f"W_{name}", shape, dtype, cell._num_unit_shards)
            bias = tf.get_variable(f"B_{name}", shape[1:], dtype, tf.zeros_initializer())
            self._maps[direction] = weights, bias
        for direction in directions if cell._use_peepholes else []:
            for gate in gates:
                self._peepholes[direction, gate] = [
                    tf.get_variable(f"W_{gate}_diag_{direction}{of}_{block}", [units], dtype)
                    for of in "ft"
                ]

    def cells(self, rows: Any, cell_f: Any, cell_t: Any) -> tuple[Any, Any, Any, Any]:
        """Returns the new cell states of frequency and time, and their outputs."""
        new_cells, open_gates = [], []
        for direction, last_cell in (("freq", cell_f), ("time", cell_t)):
            weights, bias = self._maps.get(direction) or self._maps["freq"]
            matrix = tf.nn.bias_add(tf.matmul(rows, weights), bias)
            i, j, *f, o = tf.split(matrix, weights.shape[1] // self._cell._num_units, axis=1)
            i = tf.sigmoid(self._peek(direction, "I", i, cell_f, cell_t))
            forget = 1.0 - i
            if f:
                gate = f[0] + self._cell._forget_bias
                forget = tf.sigmoid(self._peek(direction, "F", gate, cell_f, cell_t))
            new_cell = forget * last_cell + i * tf.tanh(j)
            new_cells.append(clipped(new_cell, self._cell._cell_clip))
            open_gates.append((direction, o))
        outputs = [
            tf.sigmoid(self._peek(direction, "O", o, *new_cells)) * tf.tanh(new_cell)
            for (direction, o), new_cell in zip(open_gates, new_cells, strict=True)
        ]
        return (*new_cells, *outputs)

    def _peek(self, direction: str, gate: str, value: Any, cell_f: Any, cell_t: Any) -> Any:
        if not self._cell._use_peepholes:
            return value
        of_f, of_t = self._peepholes.get((direction, gate)) or self._peepholes["freq", gate]
        return value + of_f * cell_f + of_t * cell_t


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A `GridLSTMCell` that runs over the frequencies in both directions.

    Args:
      backward_slice_offset: number of columns that the backward blocks are shifted by.
      num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
        num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
        start_freqindex_list, end_freqindex_list, couple_input_forget_gates, reuse: see
        `GridLSTMCell`.
    """

    _directions = ("fwd_state", "bwd_state")

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)

    def call(self, inputs: Any, state: Any) -> Any:
        half = len(state) // 2
        with tf.variable_scope("fwd"):
            outputs, states = self._run(self._blocks(inputs), state[:half])
        backward = self._blocks(inputs, self._backward_slice_offset)
        with tf.variable_scope("bwd"):
            more, more_states = self._run([block[::-1] for block in backward], state[half:])
        return tf.concat(outputs + more, 1), self._state_tuple_type(*states, *more_states)
