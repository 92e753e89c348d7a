"""Decoders and models with attention (Vinyals et al. 2014, https://arxiv.org/abs/1412.7449)."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.legacy_seq2seq.decoders import (
    Function,
    _extract_argmax_and_embed,
    decode_either_way,
    next_inputs,
)
from tf_frame_legacy.contrib.legacy_seq2seq.models import encode
from tf_frame_legacy.contrib.rnn import OutputProjectionWrapper
from tf_frame_legacy.contrib.rnn.parts import _linear


def attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Function | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a cell whose inputs and outputs are mixed with attention to states.

    Args:
      decoder_inputs: `[batch, depth]` for each step.
      initial_state: state of the cell.
      attention_states: `[batch, length, size]`.
      cell: the cell.
      output_size: depth of the outputs; None: that of the cell.
      num_heads: number of attention heads.
      loop_function: see `rnn_decoder`.
      dtype: type of the variables; None: that of the scope.
      scope: variable scope; None: "attention_decoder".
      initial_state_attention: whether the first step attends with the initial state, rather than
        to nothing.

    Returns:
      Outputs `[batch, output_size]` of each step, and the last state.

    Raises:
      ValueError: there are no inputs or heads, or a depth is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        heads = _Heads(attention_states, num_heads, scope.dtype)
        state, outputs = initial_state, list[Any]()
        attention = heads.zeros(tf.shape(decoder_inputs[0])[0])
        if initial_state_attention:
            attention = heads(initial_state)
        for step, inputs in enumerate(decoder_inputs):
            if step > 0:
                tf.get_variable_scope().reuse_variables()
                inputs = next_inputs(loop_function, outputs[-1], step, inputs)
            input_size = inputs.shape.with_rank(2).as_list()[1]
            if input_size is None:
                raise ValueError(f"Could not infer input size from input: {inputs.name}")
            mixed = [tf.cast(part, scope.dtype) for part in [inputs, *attention]]
            cell_output, state = cell(_linear(mixed, input_size, True), state)
            with tf.variable_scope(
                tf.get_variable_scope(), reuse=initial_state_attention or step > 0 or None
            ):
                attention = heads(state)
            with tf.variable_scope("AttnOutputProjection"):
                parts = [tf.cast(cell_output, scope.dtype), *attention]
                outputs.append(_linear(parts, output_size or cell.output_size, True))
    return outputs, state


class _Heads:
    """Attention heads with the variables `AttnW_*`, `AttnV_*` and `Attention_*`.

    Args:
      states: `[batch, length, size]`.
      count: number of heads.
      dtype: type of the variables.
    """

    def __init__(self, states: Any, count: int, dtype: Any) -> None:
        length, self.size = states.shape.as_list()[1:]
        self.length = tf.shape(states)[1] if length is None else length
        self.dtype = dtype
        self.hidden = tf.reshape(states, [-1, self.length, 1, self.size])
        self.features, self.vectors = [], []
        for head in range(count):
            kernel = tf.get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype)
            self.features.append(tf.nn.conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.vectors.append(tf.get_variable(f"AttnV_{head}", [self.size], dtype))

    def zeros(self, batch_size: Any) -> list[Any]:
        """Returns zeros `[batch, size]` for each head."""
        zeros = [tf.zeros(tf.stack([batch_size, self.size]), self.dtype) for _ in self.vectors]
        for tensor in zeros:
            tensor.set_shape([None, self.size])
        return zeros

    def __call__(self, query: Any) -> list[Any]:
        """Returns what each head reads with the query, `[batch, size]`."""
        if tf.nest.is_nested(query):
            query = tf.concat(tf.nest.flatten(query), 1)
        return [self._read(head, query) for head in range(len(self.vectors))]

    def _read(self, head: int, query: Any) -> Any:
        with tf.variable_scope(f"Attention_{head}"):
            key = tf.reshape(_linear(query, self.size, True), [-1, 1, 1, self.size])
            hidden = tf.tanh(self.features[head] + tf.cast(key, self.dtype))
            scores = tf.reduce_sum(self.vectors[head] * hidden, [2, 3])
            weights = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), self.dtype)
            weights = tf.reshape(weights, [-1, self.length, 1, 1])
            return tf.reshape(tf.reduce_sum(weights * self.hidden, [1, 2]), [-1, self.size])


def embedding_attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a decoder with attention over embeddings of tokens.

    Args:
      decoder_inputs: tokens int32 `[batch]` of each step.
      initial_state, attention_states, cell, num_heads, output_size, dtype,
        initial_state_attention: see `attention_decoder`.
      num_symbols, embedding_size, output_projection, feed_previous,
        update_embedding_for_previous: see `embedding_rnn_decoder`.
      scope: variable scope; None: "embedding_attention_decoder".

    Returns:
      Outputs `[batch, output_size]` of each step, and the last state.

    Raises:
      ValueError: the projection has another shape.
    """
    if output_projection is not None:
        biases = tf.convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                embedding, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [tf.nn.embedding_lookup(embedding, tokens) for tokens in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size or cell.output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Encodes tokens, and decodes with attention to the encoder's outputs.

    Without `output_projection` the attention is computed for `num_decoder_symbols`, which may be
    large.

    Args:
      encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
        embedding_size, output_projection, feed_previous, dtype: see `embedding_rnn_seq2seq`.
      num_heads, initial_state_attention: see `attention_decoder`.
      scope: variable scope; None: "embedding_attention_seq2seq".

    Returns:
      Outputs of each decoder step, logits without `output_projection`; and the last state.
    """
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder_outputs, state = encode(
            cell, encoder_inputs, num_encoder_symbols, embedding_size, scope.dtype
        )
        attention_states = tf.concat(
            [tf.reshape(output, [-1, 1, cell.output_size]) for output in encoder_outputs], 1
        )
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols
        return decode_either_way(
            feed_previous,
            lambda feeds: embedding_attention_decoder(
                decoder_inputs,
                state,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=isinstance(feed_previous, bool),
                initial_state_attention=initial_state_attention,
            ),
        )
