"""Models of an encoder and decoders, without attention."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy.contrib.legacy_seq2seq.copies import own_copy
from tf_frame_legacy.contrib.legacy_seq2seq.decoders import (
    Function,
    _extract_argmax_and_embed,
    check_projection,
    decode_either_way,
    embedding_rnn_decoder,
    rnn_decoder,
)
from tf_frame_legacy.contrib.rnn import EmbeddingWrapper, OutputProjectionWrapper


def basic_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes inputs by a copy of a cell, and decodes from its last state.

    Args:
      encoder_inputs, decoder_inputs: `[batch, depth]` for each step.
      cell: the cell of the decoder.
      dtype: type of the first state.
      scope: variable scope; None: "basic_rnn_seq2seq".

    Returns:
      Outputs `[batch, depth]` of each decoder step, and the last state.
    """
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(own_copy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    loop_function: Function | None = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes by one cell with the same variables.

    Args:
      encoder_inputs, decoder_inputs, cell, dtype: see `basic_rnn_seq2seq`.
      loop_function: see `rnn_decoder`.
      scope: variable scope within "combined_tied_rnn_seq2seq"; None: "tied_rnn_seq2seq".

    Returns:
      Outputs `[batch, depth]` of each decoder step, and the last state.
    """
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes tokens, each side with an embedding of its own.

    Args:
      encoder_inputs, decoder_inputs: tokens int32 `[batch]` of each step.
      cell: the cell of the decoder; the encoder's is a copy.
      num_encoder_symbols, num_decoder_symbols: numbers of tokens.
      embedding_size: depth of the embeddings.
      output_projection: see `embedding_rnn_decoder`; None: the decoder has a projection.
      feed_previous: whether all decoder inputs but the first are the tokens with the largest
        logits: bool, or a scalar bool tensor.
      dtype: type of the first state and of the variables; None: that of the scope.
      scope: variable scope; None: "embedding_rnn_seq2seq".

    Returns:
      Outputs of each decoder step, logits without `output_projection`; and the last state.
    """
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        _, state = encode(cell, encoder_inputs, num_encoder_symbols, embedding_size, scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return decode_either_way(
            feed_previous,
            lambda feeds: embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=isinstance(feed_previous, bool),
            ),
        )


def encode(
    cell: Any, inputs: list[Any], num_symbols: int, embedding_size: int, dtype: Any
) -> tuple[list[Any], Any]:
    """Returns outputs and last state of a copy of a cell over embedded tokens."""
    cell = EmbeddingWrapper(
        own_copy(cell), embedding_classes=num_symbols, embedding_size=embedding_size
    )
    return tf.nn.static_rnn(cell, inputs, dtype=dtype)  # type: ignore[no-any-return]


def embedding_tied_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes tokens by one cell and one embedding.

    Args:
      encoder_inputs, decoder_inputs, cell, embedding_size, feed_previous, dtype: see
        `embedding_rnn_seq2seq`.
      num_symbols: number of tokens.
      num_decoder_symbols: number of tokens that the decoder may return; None: all.
      output_projection: see `embedding_rnn_decoder`; None: the decoder has a projection.
      scope: variable scope; None: "embedding_tied_rnn_seq2seq".

    Returns:
      Outputs of each decoder step, logits without `output_projection`; and the last state.

    Raises:
      ValueError: the projection has another shape.
    """
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], scope.dtype)
        embedded_inputs, embedded_targets = (
            [tf.nn.embedding_lookup(embedding, tokens) for tokens in inputs]
            for inputs in (encoder_inputs, decoder_inputs)
        )
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)
        loop_function = _extract_argmax_and_embed(
            embedding, output_projection, isinstance(feed_previous, bool)
        )
        return decode_either_way(
            feed_previous,
            lambda feeds: tied_rnn_seq2seq(
                embedded_inputs,
                embedded_targets,
                cell,
                loop_function=loop_function if feeds else None,
                dtype=scope.dtype,
            ),
        )


def one2many_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs_dict: dict[Any, list[Any]],
    enc_cell: Any,
    dec_cells_dict: dict[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[Any, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Encodes tokens once, and decodes them for several tasks (arXiv:1511.06114).

    Args:
      encoder_inputs: tokens int32 `[batch]` of each step.
      decoder_inputs_dict: tokens of each step, by task.
      enc_cell: the cell of the encoder.
      dec_cells_dict: cells of the decoders, by task.
      num_encoder_symbols: number of tokens of the encoder.
      num_decoder_symbols_dict: numbers of tokens, by task.
      embedding_size, feed_previous, dtype: see `embedding_rnn_seq2seq`.
      scope: variable scope; None: "one2many_rnn_seq2seq".

    Returns:
      Logits of each step, and the last states, by task.

    Raises:
      TypeError: a cell is none.
      ValueError: the tasks of cells and inputs differ.
    """
    for cell in (enc_cell, *dec_cells_dict.values()):
        if not isinstance(cell, rnn_cell_impl.RNNCell):
            raise TypeError(f"cell is not an RNNCell: {type(cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    decoded = {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        enc_cell = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, encoder_state = tf.nn.static_rnn(enc_cell, encoder_inputs, dtype=scope.dtype)
        for name, inputs in decoder_inputs_dict.items():
            num_symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], num_symbols)
                decoded[name] = decode_either_way(
                    feed_previous,
                    lambda feeds, inputs=inputs, cell=cell, num_symbols=num_symbols: (  # type: ignore[misc]
                        embedding_rnn_decoder(
                            inputs,
                            encoder_state,
                            cell,
                            num_symbols,
                            embedding_size,
                            feed_previous=feeds,
                        )
                    ),
                )
    outputs = {name: outputs for name, (outputs, _) in decoded.items()}
    return outputs, {name: state for name, (_, state) in decoded.items()}
