"""Monotonic attention (Raffel et al. 2017, https://arxiv.org/abs/1704.00784)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.seq2seq.attention import (
    _bahdanau_score_with_variables,
    _BaseAttentionMechanism,
    _luong_score,
    _projection,
    _scale_variable,
)
from tf_frame_legacy.contrib.seq2seq.shapes import dimension


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the cumulative product of values in [0, 1], as exp(cumsum(log(x))).

    Very small values and zeros count as the smallest normal number, which keeps gradients finite.

    Args:
      x: the values.
      *args, **kwargs: arguments of `tf.cumsum`, which are those of `tf.cumprod`.
    """
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Returns the distribution of attention that never moves back, `[batch, memory_time]`.

    Args:
      p_choose_i: probabilities that a value of the memory is chosen, `[batch, memory_time]`.
      previous_attention: the distribution one step ago, `[batch, memory_time]`; one-hot at the
        first value before the first step.
      mode: "recursive": exact, by a loop over the memory; "parallel": by cumulative sums and
        products, less exact for long memories and probabilities near 0 or 1; "hard": all
        probabilities are 0 or 1.

    Raises:
      ValueError: the mode is unknown.
    """
    functions = {"recursive": _recursive, "parallel": _parallel, "hard": _hard}
    if mode not in functions:
        raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', not {mode!r}")
    p_choose_i = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    return functions[mode](p_choose_i, previous)


def _recursive(p_choose_i: Any, previous: Any) -> Any:
    """q[i] = (1 - p[i - 1]) q[i - 1] + previous[i]; attention[i] = p[i] q[i]."""
    batch_size = dimension(p_choose_i, 0)
    ones = tf.ones((batch_size, 1), p_choose_i.dtype)
    passed = tf.concat([ones, 1 - p_choose_i[:, :-1]], 1)
    reached = tf.scan(
        # The loop needs the shape in each step.
        lambda q, step: tf.reshape(step[0] * q + step[1], (batch_size,)),
        [tf.transpose(passed), tf.transpose(previous)],
        tf.zeros((batch_size,), p_choose_i.dtype),
    )
    return p_choose_i * tf.transpose(reached)


def _parallel(p_choose_i: Any, previous: Any) -> Any:
    passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
    reached = tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)
    return p_choose_i * passed * reached


def _hard(p_choose_i: Any, previous: Any) -> Any:
    """Keeps the first chosen value that is not before the previous one."""
    p_choose_i *= tf.cumsum(previous, axis=1)
    return p_choose_i * tf.cumprod(1 - p_choose_i, axis=1, exclusive=True)


def _monotonic_probability_fn(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Any:
    """Returns monotonic alignments for scores.

    Args:
      score: `[batch, memory_time]`.
      previous_alignments: `[batch, memory_time]`.
      sigmoid_noise: standard deviation of noise on the scores, which makes the model choose
        clearly; 0 in evaluation.
      mode: see `monotonic_attention`.
      seed: seed of the noise.
    """
    if sigmoid_noise > 0:
        score += sigmoid_noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    chosen = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(chosen, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """A mechanism whose first alignments are one-hot at the first value of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns `[batch, memory_time]`."""
        first = tf.zeros((batch_size,), dtype=tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with the scores of `BahdanauAttention`, and a variable bias.

    Args:
      num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: see
        `BahdanauAttention`.
      sigmoid_noise, sigmoid_noise_seed, mode: see `_monotonic_probability_fn`.
      score_bias_init: first value of the bias `attention_score_bias`; negative for long memories.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: Any = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=_projection(num_units, "query_layer", dtype),
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability_fn(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns alignments and the next state, both `[batch, memory_time]`."""
        with tf.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = _bahdanau_score_with_variables(self, query)
            score += _score_bias(self._score_bias_init, score.dtype)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with the scores of `LuongAttention`, and a variable bias.

    Args:
      num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: see
        `LuongAttention`.
      sigmoid_noise, sigmoid_noise_seed, mode: see `_monotonic_probability_fn`.
      score_bias_init: first value of the bias `attention_score_bias`; negative for long memories.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: Any = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability_fn(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns alignments and the next state, both `[batch, memory_time]`."""
        with tf.variable_scope(None, "luong_monotonic_attention", [query]):
            score = _luong_score(query, self._keys, _scale_variable(self._scale, query.dtype))
            score += _score_bias(self._score_bias_init, score.dtype)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _probability_fn(sigmoid_noise: float, mode: str, seed: int | None) -> Any:
    return functools.partial(
        _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=seed
    )


def _score_bias(initial_value: Any, dtype: Any) -> Any:
    return tf.get_variable("attention_score_bias", dtype=dtype, initializer=initial_value)
