"""Decoders of unrolled steps, without attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

Function = Callable[..., Any]


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: Function | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over inputs, or over the inputs that a function makes of its outputs.

    Args:
      decoder_inputs: `[batch, depth]` for each step.
      initial_state: state of the cell.
      cell: the cell.
      loop_function: function `(previous_output, step)` that returns the inputs of all steps but
        the first; None: the inputs are those given.
      scope: variable scope; None: "rnn_decoder".

    Returns:
      Outputs `[batch, depth]` of each step, and the last state.
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, list[Any]()
        for step, inputs in enumerate(decoder_inputs):
            if step > 0:
                inputs = next_inputs(loop_function, outputs[-1], step, inputs)
                tf.get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
    return outputs, state


def next_inputs(loop_function: Function | None, previous: Any, step: int, given: Any) -> Any:
    """Returns the inputs that a function makes of the previous output; the given ones without."""
    if loop_function is None:
        return given
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(previous, step)


def embedding_rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over embeddings of tokens.

    Args:
      decoder_inputs: tokens int32 `[batch]` of each step.
      initial_state: state of the cell.
      cell: the cell.
      num_symbols: number of tokens.
      embedding_size: depth of the variable `embedding`.
      output_projection: weights `[output, num_symbols]` and biases `[num_symbols]` that make
        logits of outputs; None: outputs are logits.
      feed_previous: whether all inputs but the first are the tokens with the largest logits.
      update_embedding_for_previous: whether these tokens train the embedding.
      scope: variable scope; None: "embedding_rnn_decoder".

    Returns:
      Outputs of each step, and the last state.

    Raises:
      ValueError: the projection has another shape.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                embedding, output_projection, update_embedding_for_previous
            )
        embedded = (tf.nn.embedding_lookup(embedding, tokens) for tokens in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


def check_projection(output_projection: Any, num_symbols: int, dtype: Any) -> None:
    """Checks the shapes of weights and biases; None passes.

    Raises:
      ValueError: a shape is not one for `num_symbols`.
    """
    if output_projection is None:
        return
    weights, biases = (tf.convert_to_tensor(part, dtype=dtype) for part in output_projection)
    weights.shape.assert_is_compatible_with([None, num_symbols])
    biases.shape.assert_is_compatible_with([num_symbols])


def _extract_argmax_and_embed(
    embedding: Any, output_projection: Any = None, update_embedding: bool = True
) -> Function:
    """Returns a loop function: the embedding of the token with the largest logit."""

    def loop_function(previous: Any, _: Any) -> Any:
        if output_projection is not None:
            previous = tf.nn.xw_plus_b(previous, *output_projection)
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def decode_either_way(feed_previous: Any, decode: Function) -> tuple[list[Any], Any]:
    """Returns outputs and state of a decoder that feeds previous outputs or does not.

    Args:
      feed_previous: a bool; or a tensor, then the graph has both decoders with the same variables.
      decode: function of a bool that returns outputs and state.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous)  # type: ignore[no-any-return]
    structures = []

    def decode_flat(feeds: bool) -> list[Any]:
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
        structures.append((outputs, state))
        return tf.nest.flatten((outputs, state))  # type: ignore[no-any-return]

    flat = tf.cond(feed_previous, lambda: decode_flat(True), lambda: decode_flat(False))
    outputs, state = tf.nest.pack_sequence_as(structures[0], flat)
    return list(outputs), state
