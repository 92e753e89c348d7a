"""Several layers of cells in both directions; the next layer sees both outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: list[Any],
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], tuple[Any, ...], tuple[Any, ...]]:
    """Runs layers of cells in both directions; each step has its own operations.

    Args:
      cells_fw, cells_bw: the cells of each direction, one for each layer.
      inputs: a tensor `[batch, columns]` for each step.
      initial_states_fw, initial_states_bw: a state for each layer; None: zeros.
      dtype: type of the zeros.
      sequence_length: steps of each example, `[batch]`; None: all steps.
      scope: variable scope; None: "stack_bidirectional_rnn".

    Returns:
      The outputs of the last layer, and the final states of each direction, one for each layer.

    Raises:
      ValueError: the cells or states are no lists of the same length.
    """

    def run_layer(cell_fw: Any, cell_bw: Any, series: Any, scope: Any, **states: Any) -> Any:
        return tf.nn.static_bidirectional_rnn(
            cell_fw,
            cell_bw,
            series,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
            **states,
        )

    states = initial_states_fw, initial_states_bw
    return _stack(run_layer, cells_fw, cells_bw, inputs, states, scope)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Runs layers of cells in both directions; loops in the graph make the steps.

    Args:
      cells_fw, cells_bw, initial_states_fw, initial_states_bw, dtype, sequence_length, scope: see
        `stack_bidirectional_rnn`.
      inputs: `[batch, time, columns]`; with `time_major`, `[time, batch, columns]`.
      parallel_iterations, time_major, swap_memory: see `tf.nn.dynamic_rnn`.

    Returns:
      The outputs of the last layer, and the final states of each direction, one for each layer.

    Raises:
      ValueError: the cells or states are no lists of the same length.
    """

    def run_layer(cell_fw: Any, cell_bw: Any, series: Any, scope: Any, **states: Any) -> Any:
        outputs, final_states = tf.nn.bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            series,
            sequence_length=sequence_length,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=time_major,
            **states,
        )
        return tf.concat(outputs, 2), *final_states

    states = initial_states_fw, initial_states_bw
    return _stack(run_layer, cells_fw, cells_bw, inputs, states, scope)


def _stack(
    run_layer: Callable[..., Any],
    cells_fw: list[Any],
    cells_bw: list[Any],
    series: Any,
    initial_states: tuple[Any, Any],
    scope: Any,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    states_fw, states_bw = map(_states_by_layer, initial_states, (cells_fw, cells_bw))
    final_states = []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for layer, pair in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{layer}") as cell_scope:
                series, state_fw, state_bw = run_layer(
                    *pair,
                    series,
                    cell_scope,
                    initial_state_fw=states_fw[layer],
                    initial_state_bw=states_bw[layer],
                )
            final_states.append((state_fw, state_bw))
    forward, backward = zip(*final_states, strict=True)
    return series, forward, backward


def _states_by_layer(states: Any, cells: list[Any]) -> list[Any]:
    if states is None:
        return [None] * len(cells)
    if not isinstance(states, list) or len(states) != len(cells):
        raise ValueError("initial states must be lists of state tensors (one per layer).")
    return states
