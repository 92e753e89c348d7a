"""`AttentionCellWrapper`: a cell with attention to its own last outputs."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn.core import RNNCell, assert_like_rnncell
from tf_frame_legacy.contrib.rnn.parts import Wrapper, _linear, columns


class AttentionCellWrapper(Wrapper, RNNCell):
    """A cell with attention to its last outputs, https://arxiv.org/abs/1409.0473.

    The state is a tuple of the cell's state, the attention, `[batch, attn_size]`, and the last
    outputs, `[batch, attn_length * attn_size]`.

    Args:
      cell: the wrapped cell.
      attn_length: number of outputs that the attention sees.
      attn_size: number of columns of the outputs; None: that of the cell.
      attn_vec_size: number of features that outputs and state are compared by; None: `attn_size`.
      input_size: number of columns of the cell's inputs; None: that of the inputs.
      state_is_tuple: whether the state is a tuple; False: its parts are concatenated.
      reuse: whether the variables exist.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: `attn_length` is not positive; or `state_is_tuple` is False, and the cell's state
        is a tuple.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if tf.nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size = attn_size or cell.output_size
        self._attn_vec_size = attn_vec_size or self._attn_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """Sizes of the cell's state, of the attention and of the last outputs."""
        sizes = self._cell.state_size, self._attn_size, self._attn_size * self._attn_length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """Number of columns of the outputs."""
        return self._attn_size

    # The zeros of all three parts of the state, not the zero state of the cell.
    zero_state = RNNCell.zero_state

    def call(self, inputs: Any, state: Any) -> Any:
        cell_state, attention, memory = self._split(state)
        memory = tf.reshape(memory, [-1, self._attn_length, self._attn_size])
        inputs = _linear([inputs, attention], self._input_size or columns(inputs), True)
        outputs, cell_state = self._cell(inputs, cell_state)
        attention = self._attend(tf.concat(tf.nest.flatten(cell_state), 1), memory)
        with tf.variable_scope("attn_output_projection"):
            outputs = _linear([outputs, attention], self._attn_size, True)
        memory = tf.concat([memory[:, 1:], outputs[:, None]], 1)
        memory = tf.reshape(memory, [-1, self._attn_length * self._attn_size])
        new_state = cell_state, attention, memory
        return outputs, new_state if self._state_is_tuple else tf.concat(new_state, 1)

    def _split(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        sizes = [self._cell.state_size, self._attn_size, self._attn_size * self._attn_length]
        return tf.split(state, sizes, axis=1)

    def _attend(self, query: Any, memory: Any) -> Any:
        """Returns the mean of the memory by its likeness to the query, `[batch, attn_size]`."""
        with tf.variable_scope("attention"):
            kernel = tf.get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            weights = tf.get_variable("attn_v", [self._attn_vec_size])
            features = tf.nn.conv2d(memory[:, :, None], kernel, [1, 1, 1, 1], "SAME")[:, :, 0]
            features += _linear(query, self._attn_vec_size, True)[:, None]
            shares = tf.nn.softmax(tf.reduce_sum(weights * tf.tanh(features), 2))
            return tf.reduce_sum(shares[:, :, None] * memory, 1)
