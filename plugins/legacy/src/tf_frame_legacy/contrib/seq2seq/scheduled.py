"""Helpers of scheduled sampling (Bengio et al. 2015, https://arxiv.org/abs/1506.03099)."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import rnn

from tf_frame_legacy.contrib.seq2seq.helper import (
    Function,
    TrainingHelper,
    _unstack_ta,
    as_embedding_fn,
)
from tf_frame_legacy.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A helper for training that sometimes replaces an input by the embedding of a sample.

    The samples are -1 where the given input stays.

    Args:
      inputs, sequence_length, time_major, name: see `TrainingHelper`.
      embedding: see `GreedyEmbeddingHelper`.
      sampling_probability: probability that an input is replaced; scalar or vector.
      seed: seed of the samples.
      scheduling_seed: seed of the decisions to replace.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper"):
            self._embedding_fn = as_embedding_fn(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Returns samples of the logits, and -1 where the given input stays."""
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs]):
            chosen = bernoulli_sample(
                probs=self._sampling_probability,
                dtype=tf.bool,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            samples = categorical_sample(logits=outputs, seed=self._seed)
            return tf.where(chosen, samples, tf.fill([self.batch_size], -1))

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns `(finished, next_inputs, state)`."""
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs]):
            finished, given, state = super().next_inputs(time, outputs, state, name)

            def replace() -> Any:
                chosen = tf.where(sample_ids > -1)
                return _mixed(
                    given, sample_ids > -1, self._embedding_fn(tf.gather_nd(sample_ids, chosen))
                )

            next_inputs = tf.cond(tf.reduce_all(finished), lambda: given, replace)
            return finished, next_inputs, state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A helper for training that sometimes replaces an input by the previous output.

    The samples are whether the input is replaced.

    Args:
      inputs, sequence_length, time_major, name: see `TrainingHelper`.
      sampling_probability: probability that an input is replaced; scalar or vector.
      seed: seed of the decisions to replace.
      next_inputs_fn: function of the outputs that returns inputs; None: the outputs themselves.
      auxiliary_inputs: inputs of each step that are appended to the inputs, replaced or not.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Function | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "ScheduledOutputTrainingHelper"):
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                auxiliary = tf.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = tf.concat((tf.convert_to_tensor(inputs), auxiliary), -1)
                by_time = auxiliary if time_major else rnn._transpose_batch_time(auxiliary)
                self._auxiliary_input_tas = _unstack_ta(by_time)
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Returns 1 where the input is replaced, int32 `[batch]`."""
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs]):
            return bernoulli_sample(
                probs=self._sampling_probability, sample_shape=self.batch_size, seed=self._seed
            )

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns `(finished, next_inputs, state)`."""
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs]):
            finished, given, state = super().next_inputs(time, outputs, state, name)
            chosen = tf.cast(sample_ids, tf.bool)
            unchanged = tf.logical_or(tf.reduce_all(finished), ~tf.reduce_any(chosen))
            next_inputs = tf.cond(
                unchanged, lambda: given, lambda: self._replaced(time, outputs, given, chosen)
            )
            return finished, next_inputs, state

    def _replaced(self, time: Any, outputs: Any, given: Any, chosen: Any) -> Any:
        auxiliary = None
        if self._auxiliary_input_tas is not None:
            auxiliary = self._auxiliary_input_tas.read(time + 1)
        if self._next_inputs_fn is None:
            return tf.where(chosen, _concatenated(outputs, auxiliary), given)
        rows = tf.where(chosen)
        sampled = self._next_inputs_fn(tf.gather_nd(outputs, rows))
        if auxiliary is not None:
            auxiliary = tf.gather_nd(auxiliary, rows)
        return _mixed(given, chosen, _concatenated(sampled, auxiliary))


def _probability(value: Any) -> Any:
    probability = tf.convert_to_tensor(value, name="sampling_probability")
    if probability.shape.rank not in (0, 1):
        raise ValueError(
            f"sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.shape}"
        )
    return probability


def _concatenated(values: Any, auxiliary: Any) -> Any:
    return values if auxiliary is None else tf.concat((values, auxiliary), -1)


def _mixed(given: Any, chosen: Any, replacements: Any) -> Any:
    """Returns the given rows, with replacements for the chosen ones.

    Args:
      given: `[batch, ...]`.
      chosen: bool `[batch]`.
      replacements: a row for each chosen one.
    """
    scattered = tf.scatter_nd(tf.cast(tf.where(chosen), tf.int32), replacements, tf.shape(given))
    return tf.where(chosen, scattered, given)
