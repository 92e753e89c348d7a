"""A step of beam search: scores of all continuations, and the best of them.

Penalties of length and coverage are those of Wu et al. 2016, https://arxiv.org/abs/1609.08144.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from tf_frame_legacy.contrib.seq2seq.shapes import dimension


class BeamSearchDecoderState(NamedTuple):
    """State of a beam search.

    Attributes:
      cell_state: state of the cell, `[batch, beam, ...]`.
      log_probs: logarithms of the beams' probabilities, `[batch, beam]`.
      finished: whether the beams are finished, bool `[batch, beam]`.
      lengths: int64 `[batch, beam]`.
      accumulated_attention_probs: `[batch, beam, memory_time]`; () without a coverage penalty.
    """

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """Outputs of the steps of a beam search, all `[batch, time, beam]`.

    Attributes:
      scores: scores of the best continuations.
      predicted_ids: their tokens, int32.
      parent_ids: the beams that they continue, int32.
    """

    scores: Any
    predicted_ids: Any
    parent_ids: Any


def _beam_search_step(
    time: Any,
    logits: Any,
    next_cell_state: Any,
    beam_state: BeamSearchDecoderState,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """Returns the outputs and the next state.

    Args:
      time: the step; not used.
      logits: `[batch, beam, vocabulary]`.
      next_cell_state: state of the cell after the step, `[batch, beam, ...]`.
      beam_state: state before the step.
      batch_size: scalar tensor.
      beam_width: number of beams.
      end_token: int32 scalar.
      length_penalty_weight, coverage_penalty_weight: see `BeamSearchDecoder`.
    """
    finished = beam_state.finished
    log_probs = _mask_probs(tf.nn.log_softmax(logits), end_token, finished)
    log_probs += beam_state.log_probs[:, :, None]
    vocab_size = dimension(logits, -1)
    coverage = _accumulated_coverage(next_cell_state, beam_state, coverage_penalty_weight)
    scores = _get_scores(
        log_probs=log_probs,
        sequence_lengths=_next_lengths(beam_state, vocab_size, end_token),
        length_penalty_weight=length_penalty_weight,
        coverage_penalty_weight=coverage_penalty_weight,
        finished=finished,
        accumulated_attention_probs=coverage,
    )
    best_scores, indices = tf.nn.top_k(tf.reshape(scores, [batch_size, -1]), k=beam_width)
    for tensor in (best_scores, indices):
        tensor.set_shape([logits.shape.as_list()[0], beam_width])
    flat_log_probs = tf.reshape(log_probs, [batch_size, -1])
    word_ids = tf.floormod(indices, vocab_size, name="next_beam_word_ids")
    parents = tf.floordiv(indices, vocab_size, name="next_beam_parent_ids")

    was_finished = _gather_beams(finished, parents)
    lengths = tf.cast(beam_state.lengths, tf.int64)
    next_state = BeamSearchDecoderState(
        cell_state=tf.nest.map_structure(
            lambda state: _gather_beams(state, parents), next_cell_state
        ),
        log_probs=tf.gather(flat_log_probs, indices, batch_dims=1, name="next_beam_probs"),
        lengths=_gather_beams(lengths, parents) + tf.cast(~was_finished, tf.int64),
        finished=tf.logical_or(
            was_finished, tf.equal(word_ids, end_token), name="next_beam_finished"
        ),
        accumulated_attention_probs=() if coverage is None else _gather_beams(coverage, parents),
    )
    return BeamSearchDecoderOutput(best_scores, word_ids, parents), next_state


def _gather_beams(tensor: Any, parents: Any) -> Any:
    """Returns the parents' rows of `[batch, beam, ...]`; arrays and lower ranks unchanged."""
    if isinstance(tensor, tf.TensorArray):
        return tensor
    check_rank(tensor)
    if tensor.shape.rank < 2:
        return tensor
    gathered = tf.gather(tensor, parents, axis=1, batch_dims=1)
    gathered.set_shape(tensor.shape)
    return gathered


def check_rank(tensor: Any) -> None:
    """Checks that a tensor's rank is known.

    Raises:
      ValueError: the rank is unknown.
    """
    if tensor.shape.rank is None:
        raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")


def _next_lengths(state: BeamSearchDecoderState, vocab_size: Any, end_token: Any) -> Any:
    """Returns lengths after each token, `[batch, beam, vocabulary]`; the end token adds none."""
    added = tf.one_hot(end_token, vocab_size, on_value=0, off_value=1, dtype=tf.int64)
    added *= tf.cast(~state.finished, tf.int64)[:, :, None]
    return tf.cast(state.lengths, tf.int64)[:, :, None] + added


def _accumulated_coverage(next_cell_state: Any, state: BeamSearchDecoderState, weight: Any) -> Any:
    probs = get_attention_probs(next_cell_state, weight)
    if probs is None:
        return None
    probs *= tf.cast(~state.finished, probs.dtype)[:, :, None]
    return state.accumulated_attention_probs + probs


def get_attention_probs(next_cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Returns the mean alignments of the attention cells; None without a coverage penalty.

    Args:
      next_cell_state: state of the cell, or a tuple of the states of several.
      coverage_penalty_weight: see `BeamSearchDecoder`.

    Returns:
      `[batch, beam, memory_time]`.

    Raises:
      ValueError: no cell has attention.
    """
    if _is_number(coverage_penalty_weight) and coverage_penalty_weight == 0.0:
        return None
    states = [next_cell_state]
    if not isinstance(next_cell_state, AttentionWrapperState):
        states = list(next_cell_state) if isinstance(next_cell_state, tuple) else []
    probs = [
        attention_probs_from_attn_state(state)
        for state in states
        if isinstance(state, AttentionWrapperState)
    ]
    if not probs:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean(probs)


def attention_probs_from_attn_state(attention_state: AttentionWrapperState) -> Any:
    """Returns the alignments of a state; the mean of several mechanisms."""
    alignments = attention_state.alignments
    return _mean(list(alignments)) if isinstance(alignments, tuple) else alignments


def _mean(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tf.reduce_mean(tf.stack(tensors, -1), -1)


def _is_number(value: Any) -> bool:
    return not tf.is_tensor(value)


def _get_scores(
    log_probs: Any,
    sequence_lengths: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Any,
    accumulated_attention_probs: Any,
) -> Any:
    """Returns log-probabilities over the length penalty, plus the coverage penalty.

    Args:
      log_probs: `[batch, beam, vocabulary]`.
      sequence_lengths: lengths, of that shape.
      length_penalty_weight, coverage_penalty_weight: see `BeamSearchDecoder`.
      finished: bool `[batch, beam]`; only these have a coverage penalty.
      accumulated_attention_probs: `[batch, beam, memory_time]`; None without coverage penalty.

    Raises:
      ValueError: the coverage weight is no scalar, or there is no attention to weigh.
    """
    penalty = _length_penalty(sequence_lengths, length_penalty_weight)
    scores = log_probs / tf.cast(penalty, log_probs.dtype)
    weight = tf.convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.rank != 0:
        raise ValueError(
            f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
        )
    if tf.get_static_value(weight) == 0.0:
        return scores
    if accumulated_attention_probs is None:
        raise ValueError(
            "accumulated_attention_probs can be None only if coverage penalty is disabled."
        )
    # Values of the memory beyond its length have no attention, and no penalty.
    ones = tf.ones_like(accumulated_attention_probs)
    unused = tf.equal(accumulated_attention_probs, 0.0)
    covered = tf.minimum(tf.where(unused, ones, accumulated_attention_probs), 1.0)
    coverage = tf.reduce_sum(tf.log(covered), 2) * tf.cast(finished, covered.dtype)
    return scores + (coverage * tf.cast(weight, covered.dtype))[:, :, None]


def _length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """Returns ((5 + length) / 6) ** factor, or 1.0 for the factor 0."""
    factor = tf.convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    if tf.get_static_value(factor) == 0:
        return 1.0
    lengths = tf.cast(sequence_lengths, tf.float32)
    return (5.0 + lengths) ** factor / (5.0 + 1.0) ** factor


def _mask_probs(probs: Any, eos_token: Any, finished: Any) -> Any:
    """Returns log-probabilities in which finished beams have only the end token.

    Args:
      probs: `[batch, beam, vocabulary]`.
      eos_token: the end token.
      finished: bool `[batch, beam]`.
    """
    finished = tf.convert_to_tensor(finished)
    row = tf.one_hot(
        eos_token, tf.shape(probs)[2], on_value=0.0, off_value=probs.dtype.min, dtype=probs.dtype
    )
    return tf.where_v2(finished[:, :, None], row, probs)
