"""`tf.contrib.crf`: linear-chain conditional random fields.

    log_likelihood, transitions = crf.crf_log_likelihood(scores, tags, lengths)
    loss = tf.reduce_mean(-log_likelihood)
    predicted, best_scores = crf.crf_decode(scores, transitions, lengths)

The scores, `inputs` or `potentials`, are `[batch, time, tags]`; `transition_params` are
`[tags, tags]`, from the row's tag to the column's; the tags `[batch, time]`; the lengths `[batch]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.rnn import RNNCell


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """Returns the scores, not normalized, of sequences of tags, `[batch]`."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """Returns the scores of all sequences that a bitmap allows, summed as exponentials, `[batch]`.

    Args:
      inputs, sequence_lengths, transition_params: see the module.
      tag_bitmap: whether a tag is allowed, `[batch, time, tags]`.
    """
    forbidden = tf.fill(tf.shape(inputs), tf.constant(-np.inf, inputs.dtype))
    allowed = tf.where(tag_bitmap, inputs, forbidden)
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the logarithms of the normalization, `[batch]`; zero for an empty sequence."""
    rest, lengths = _after_first(inputs, sequence_lengths)
    cell = CrfForwardRnnCell(transition_params)
    _, alphas = tf.nn.dynamic_rnn(cell, rest, lengths, initial_state=inputs[:, 0])
    log_norm = tf.reduce_logsumexp(alphas, [1])
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(log_norm), log_norm)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """Returns the logarithms of the likelihood of sequences of tags, and the transitions.

    Args:
      inputs, tag_indices, sequence_lengths: see the module.
      transition_params: the transitions; None: the variable `transitions`.

    Returns:
      The logarithms, `[batch]`, and the transitions.
    """
    if transition_params is None:
        tags = tf.compat.dimension_value(inputs.shape[2])
        transition_params = tf.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """Returns the sums of the tags' own scores, `[batch]`."""
    one_hot = tf.one_hot(tag_indices, tf.shape(inputs)[2], True, False, dtype=tf.bool)
    own = tf.reduce_sum(tf.where(one_hot, inputs, tf.zeros_like(inputs)), 2)
    return tf.reduce_sum(own * _mask(tag_indices, sequence_lengths, own.dtype), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the sums of the transitions' scores, `[batch]`."""
    pairs = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], axis=2)
    scores = tf.gather_nd(transition_params, pairs)
    return tf.reduce_sum(scores * _mask(tag_indices, sequence_lengths, scores.dtype)[:, 1:], 1)


def _mask(tag_indices: Any, sequence_lengths: Any, dtype: Any) -> Any:
    return tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], dtype)


def _after_first(scores: Any, sequence_lengths: Any) -> tuple[Any, Any]:
    """Returns the scores after the first step, and the lengths without it.

    A last step that nothing reads lets tf.nn.dynamic_rnn take sequences of one step.
    """
    rest = tf.concat([scores[:, 1:], tf.zeros_like(scores[:, :1])], 1)
    return rest, tf.maximum(tf.cast(sequence_lengths, tf.int32) - 1, 0)


class _TransitionCell(RNNCell):
    """A cell whose inputs and state are scores of tags, `[batch, tags]`."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = tf.compat.dimension_value(transition_params.shape[0])

    @property
    def state_size(self) -> Any:
        """Number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> Any:
        """Number of tags."""
        return self._num_tags

    def _transition_scores(self, state: Any) -> Any:
        """Returns the scores after each transition, `[batch, last tag, tag]`."""
        return tf.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_TransitionCell):
    """The step of the forward algorithm; outputs and state are the alphas.

    Args:
      transition_params: the transitions, `[tags, tags]`.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        alphas = inputs + tf.reduce_logsumexp(self._transition_scores(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_TransitionCell):
    """The forward step of crf_decode; its outputs are the best last tags, its state the scores.

    Args:
      transition_params: the transitions, `[tags, tags]`.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        scores = self._transition_scores(state)
        backpointers = tf.argmax(scores, 1, output_type=tf.int32)
        return backpointers, inputs + tf.reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """The backward step of crf_decode; outputs and state are the tags, `[batch, 1]`.

    Args:
      num_tags: number of tags.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """One tag."""
        return 1

    @property
    def output_size(self) -> int:
        """One tag."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tags = tf.gather(inputs, state, axis=1, batch_dims=1)
        return tags, tags


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """Returns the best sequence of tags and its score, by NumPy.

    Args:
      score: scores of one sequence, `[time, tags]`.
      transition_params: the transitions, `[tags, tags]`.
    """
    best = score[0]
    backpointers = []
    for scores in score[1:]:
        candidates = np.expand_dims(best, 1) + transition_params
        best = scores + np.max(candidates, 0)
        backpointers.append(np.argmax(candidates, 0))
    tags = [np.argmax(best)]
    for pointers in reversed(backpointers):
        tags.append(pointers[tags[-1]])
    return tags[::-1], np.max(best)


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """Returns the best sequences of tags and their scores.

    Args:
      potentials, transition_params: see the module.
      sequence_length: the lengths, `[batch]`.

    Returns:
      Tags, int32 `[batch, time]`, and scores, `[batch]`.
    """
    rest, lengths = _after_first(potentials, sequence_length)
    forward = CrfDecodeForwardRnnCell(transition_params)
    backpointers, scores = tf.nn.dynamic_rnn(
        forward, rest, lengths, initial_state=potentials[:, 0], dtype=tf.int32
    )
    last_tags = tf.argmax(scores, 1, output_type=tf.int32)[:, None]
    tags, _ = tf.nn.dynamic_rnn(
        CrfDecodeBackwardRnnCell(tf.compat.dimension_value(potentials.shape[2])),
        tf.reverse_sequence(backpointers, lengths, seq_axis=1),
        lengths,
        initial_state=last_tags,
        dtype=tf.int32,
    )
    tags = tf.concat([last_tags, tags[:, :-1, 0]], 1)
    lengths = tf.cast(sequence_length, tf.int32)
    return tf.reverse_sequence(tags, lengths, seq_axis=1), tf.reduce_max(scores, [1])
