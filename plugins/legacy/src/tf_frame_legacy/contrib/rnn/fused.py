"""Cells for a whole series: any cell as one, and one that reads the series backwards."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class FusedRNNCell:
    """A cell for a whole series, `[time, batch, columns]` or a list of a tensor for each step."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Returns outputs, in the form of the inputs, and final state."""
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell as a `FusedRNNCell`.

    Args:
      cell: the cell.
      use_dynamic_rnn: whether a loop in the graph makes the steps; False: each step has its own
        operations, and the number of steps must be known.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        is_list = isinstance(inputs, list)
        arguments = {
            "sequence_length": sequence_length,
            "initial_state": initial_state,
            "dtype": dtype,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            series = tf.stack(inputs) if is_list else inputs
            outputs, state = tf.nn.dynamic_rnn(self._cell, series, time_major=True, **arguments)
            return tf.unstack(outputs) if is_list else outputs, state
        steps = inputs if is_list else tf.unstack(inputs)
        outputs, state = tf.nn.static_rnn(self._cell, steps, **arguments)
        return outputs if is_list else tf.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A `FusedRNNCell` that reads the series backwards; its outputs are in the original order.

    Args:
      cell: a FusedRNNCell.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(series: Any, lengths: Any) -> Any:
    if isinstance(series, list):
        return series[::-1]
    if lengths is None:
        return tf.reverse(series, [0])
    return tf.reverse_sequence(series, lengths, seq_axis=0, batch_axis=1)
