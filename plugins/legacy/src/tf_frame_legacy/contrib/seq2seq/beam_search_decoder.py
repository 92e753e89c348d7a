"""`BeamSearchDecoder`: keeps the most probable sequences, and decodes each further."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy.contrib.seq2seq.beam_search_step import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    _beam_search_step,
    check_rank,
    get_attention_probs,
)
from tf_frame_legacy.contrib.seq2seq.beams import gather_tree, gather_tree_from_array
from tf_frame_legacy.contrib.seq2seq.decoder import Decoder
from tf_frame_legacy.contrib.seq2seq.helper import as_embedding_fn, convert_tokens
from tf_frame_legacy.contrib.seq2seq.shapes import dimension, is_layer

_logger = logging.getLogger(__name__)


class FinalBeamSearchDecoderOutput(NamedTuple):
    """Final outputs of a beam search.

    Attributes:
      predicted_ids: tokens of the final beams, the best first, `[batch, time, beam]`.
      beam_search_decoder_output: outputs of the steps, a `BeamSearchDecoderOutput`.
    """

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """A decoder of several beams for each sequence.

    An attention cell needs a memory, lengths and initial states after `tile_batch` with
    `multiplier=beam_width`, and a `zero_state` of `batch_size * beam_width`.

    Args:
      cell: the cell.
      embedding: function of ids, or the variable that `tf.nn.embedding_lookup` looks them up in.
      start_tokens: int32 `[batch]`.
      end_token: int32 scalar.
      initial_state: state of the cell, `[batch * beam, ...]`.
      beam_width: number of beams.
      output_layer: layer after the cell, which makes logits; None: no layer.
      length_penalty_weight: scores are divided by ((5 + length) / 6) ** weight.
      coverage_penalty_weight: weight of the penalty for a memory that is not attended to.
      reorder_tensor_arrays: whether TensorArrays in the final state are ordered by the final
        beams; these are tensors then.

    Raises:
      TypeError: the cell or layer is none.
      ValueError: `start_tokens` is no vector, `end_token` is no scalar, or a state does not have
        `batch_size * beam_width` elements.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        if output_layer is not None and not is_layer(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer = cell, output_layer
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = as_embedding_fn(embedding)
        start_tokens, self._end_token = convert_tokens(start_tokens, end_token)
        # An integer if it is known: in loops of TensorFlow 2 a tensor has no static value.
        self._batch_size = dimension(start_tokens, 0)
        self._initial_cell_state = tf.nest.map_structure(
            self._maybe_split_batch_beams, initial_state, cell.state_size
        )
        self._start_tokens = tf.tile(tf.expand_dims(start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = self._first_beam(False, True, tf.bool)

    def _first_beam(self, first: Any, others: Any, dtype: Any) -> Any:
        """Returns `[batch, beam]` with one value for the first beam and another for the rest."""
        zeros = tf.zeros([self._batch_size], dtype=tf.int32)
        return tf.one_hot(zeros, self._beam_width, on_value=first, off_value=others, dtype=dtype)

    @property
    def batch_size(self) -> Any:
        """The batch size without the beams."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True, since beams change their places in each step."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """Sizes of the outputs: one value for each beam."""
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def _static_batch_size(self) -> Any:
        return None if tf.is_tensor(self._batch_size) else self._batch_size

    @property
    def _dtype(self) -> Any:
        return tf.nest.flatten(self._initial_cell_state)[0].dtype

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Types of the outputs: scores are of the state's type."""
        return BeamSearchDecoderOutput(self._dtype, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs, state)` before the first step.

        All beams are equal then, so the probability of all but the first is 0.
        """
        probs = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=self._first_beam(0.0, -np.inf, self._dtype),
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=tf.int64),
            accumulated_attention_probs=() if probs is None else probs,
        )
        return self._finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns `(outputs, next_state, next_inputs, finished)`."""
        with tf.name_scope(name, "BeamSearchDecoderStep", tf.nest.flatten((time, inputs))):
            logits, cell_state = self._run_cell(inputs, state.cell_state)
            outputs, state = _beam_search_step(
                time=time,
                logits=logits,
                next_cell_state=cell_state,
                beam_state=state,
                batch_size=self._batch_size,
                beam_width=self._beam_width,
                end_token=self._end_token,
                length_penalty_weight=self._length_penalty_weight,
                coverage_penalty_weight=self._coverage_penalty_weight,
            )
            next_inputs = tf.cond(
                tf.reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(outputs.predicted_ids),
            )
        return outputs, state, next_inputs, state.finished

    def _run_cell(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Returns `[batch, beam, ...]` outputs and state; the cell sees `[batch * beam, ...]`."""
        sizes = self._cell.state_size
        inputs = tf.nest.map_structure(
            lambda tensor: self._merge_batch_beams(tensor, tensor.shape[2:]), inputs
        )
        state = tf.nest.map_structure(self._maybe_merge_batch_beams, state, sizes)
        outputs, state = self._cell(inputs, state)
        outputs = tf.nest.map_structure(
            lambda tensor: self._split_batch_beams(tensor, tensor.shape[1:]), outputs
        )
        state = tf.nest.map_structure(self._maybe_split_batch_beams, state, sizes)
        return outputs if self._output_layer is None else self._output_layer(outputs), state

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns `(FinalBeamSearchDecoderOutput, final_state)`.

        Args:
          outputs: outputs of the steps, `[time, batch, beam]`.
          final_state: the last `BeamSearchDecoderState`.
          sequence_lengths: not used; the lengths are in the state.
        """
        predicted_ids = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32),
            end_token=self._end_token,
        )
        if self._reorder_tensor_arrays:
            cell_state = tf.nest.map_structure(
                lambda t: self._maybe_sort_array_beams(t, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(predicted_ids, outputs), final_state

    def _merge_batch_beams(self, t: Any, s: Any = None) -> Any:
        """Returns `[batch * beam, *s]` for `[batch, beam, *s]`."""
        batch_size = self._static_batch_size
        merged = tf.reshape(
            t, tf.concat(([self._batch_size * self._beam_width], tf.shape(t)[2:]), 0)
        )
        static = None if batch_size is None else batch_size * self._beam_width
        merged.set_shape(tf.TensorShape([static]).concatenate(_static_shape(s)))
        return merged

    def _split_batch_beams(self, t: Any, s: Any = None) -> Any:
        """Returns `[batch, beam, *s]` for `[batch * beam, *s]`.

        Raises:
          ValueError: the known sizes differ.
        """
        split = tf.reshape(t, tf.concat(([self._batch_size, self._beam_width], tf.shape(t)[1:]), 0))
        static = [self._static_batch_size, self._beam_width]
        expected = tf.TensorShape(static).concatenate(_static_shape(s))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {split.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _maybe_split_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, tf.TensorArray):
            return t
        check_rank(t)
        return self._split_batch_beams(t, s) if t.shape.rank >= 1 else t

    def _maybe_merge_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, tf.TensorArray):
            return t
        check_rank(t)
        return self._merge_batch_beams(t, s) if t.shape.rank >= 2 else t

    def _maybe_sort_array_beams(self, t: Any, parent_ids: Any, sequence_length: Any) -> Any:
        """Returns a TensorArray, stacked, in the order of the final beams.

        What is no TensorArray, or one of elements that are not known to be of beams, is returned
        as it is.
        """
        if not isinstance(t, tf.TensorArray):
            return t
        if not t.element_shape.rank:
            _logger.warning(
                "A TensorArray in the cell state is not sorted by the beams: its elements must "
                "have a known rank of at least 1, but their shape is %s",
                t.element_shape,
            )
            return t
        if not _check_static_batch_beam_maybe(
            t.element_shape, self._static_batch_size, self._beam_width
        ):
            return t
        stacked = t.stack()
        with tf.control_dependencies(
            [_check_batch_beam(stacked, self._batch_size, self._beam_width)]
        ):
            return gather_tree_from_array(stacked, parent_ids, sequence_length)


def _static_shape(size: Any) -> Any:
    """Returns the shape of a size, which may be a shape, an integer or a tensor."""
    return tf.TensorShape(tf.get_static_value(size) if tf.is_tensor(size) else size)


def _check_static_batch_beam_maybe(shape: Any, batch_size: int | None, beam_width: int) -> bool:
    """Returns whether a shape may be one of beams; as the original, a known shape rarely is.

    A first dimension of `batch * beam` passes only if the second is unknown: with known sizes the
    state keeps a TensorArray, and programs call `stack` on it.
    """
    sizes = shape.as_list()
    if batch_size is None or sizes[0] is None:
        return True
    merged = sizes[0] == batch_size * beam_width
    apart = len(sizes) < 2 or sizes[1] is None or sizes[:2] == [batch_size, beam_width]
    if not (merged and apart):
        _logger.warning(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible "
            "with the current shape %s. Consider setting reorder_tensor_arrays to False to "
            "disable TensorArray reordering during the beam search.",
            [batch_size, beam_width, None],
            shape,
        )
    return merged and apart


def _check_batch_beam(t: Any, batch_size: Any, beam_width: int) -> Any:
    """Returns an assertion that elements are `[batch * beam, ...]` or `[batch, beam, ...]`."""
    shape = tf.shape(t)
    condition = tf.equal(shape[1], batch_size * beam_width)
    if t.shape.rank > 2:
        apart = tf.reduce_all(tf.equal(shape[1:3], [batch_size, beam_width]))
        condition = tf.logical_or(condition, apart)
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] "
        f"which is incompatible with the dynamic shape of {t.name} elements. Consider setting "
        "reorder_tensor_arrays to False to disable TensorArray reordering during the beam search."
    )
    return tf.Assert(condition, [message])
