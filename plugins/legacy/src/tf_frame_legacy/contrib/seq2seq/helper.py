"""Helpers: they sample from a decoder's outputs, and make its next inputs."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import rnn

from tf_frame_legacy.contrib.seq2seq.sampling import categorical_sample

Function = Callable[..., Any]


class Helper(abc.ABC):
    """The interface of helpers, which `BasicDecoder` calls."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """Batch size of the samples, a scalar int32 tensor."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """Shape of the samples without the batch, a `TensorShape`."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """Type of the samples."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs)` before the first step."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the samples of a step."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns `(finished, next_inputs, next_state)`."""


class _TokenHelper(Helper):
    """A helper with a token as the sample of each sequence."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """Batch size, a scalar int32 tensor."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a scalar."""
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return tf.int32


class CustomHelper(Helper):
    """A helper of three functions.

    Args:
      initialize_fn: function that returns `(finished, inputs)`.
      sample_fn: function `(time, outputs, state)` that returns samples.
      next_inputs_fn: function `(time, outputs, state, sample_ids)` that returns
        `(finished, next_inputs, next_state)`.
      sample_ids_shape: shape of a sample; None: a scalar.
      sample_ids_dtype: type of the samples; None: int32.
    """

    def __init__(
        self,
        initialize_fn: Function,
        sample_fn: Function,
        next_inputs_fn: Function,
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        """Batch size, a scalar int32 tensor.

        Raises:
          ValueError: `initialize` was not called.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """Shape of the samples without the batch."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """Type of the samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs)` before the first step."""
        with tf.name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the samples of `sample_fn`."""
        with tf.name_scope(name, f"{type(self).__name__}Sample"):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns the values of `next_inputs_fn`."""
        with tf.name_scope(name, f"{type(self).__name__}NextInputs"):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class TrainingHelper(_TokenHelper):
    """A helper that reads given inputs; the samples are the largest outputs.

    Args:
      inputs: `[batch, time, ...]`.
      sequence_length: lengths, int32 `[batch]`.
      time_major: whether inputs are `[time, batch, ...]`.
      name: name scope.

    Raises:
      ValueError: `sequence_length` is no vector.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        with tf.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            self._inputs = tf.convert_to_tensor(inputs, name="inputs")
            by_time = self._inputs if time_major else rnn._transpose_batch_time(self._inputs)
            self._input_tas = _unstack_ta(by_time)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.rank != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = tf.zeros_like(by_time[0, :])
            self._batch_size = tf.size(self._sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths, `[batch]`."""
        return self._sequence_length

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs)` before the first step."""
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(0, finished)

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """Returns the indices of the largest outputs."""
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """Returns `(finished, next_inputs, state)`; zeros after the end of all sequences."""
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            finished = time + 1 >= self._sequence_length
            return finished, self._read(time + 1, finished), state

    def _read(self, time: Any, finished: Any) -> Any:
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: self._input_tas.read(time),
        )


class GreedyEmbeddingHelper(_TokenHelper):
    """A helper for inference: the largest logit is the sample, its embedding the next input.

    Args:
      embedding: function of ids, or the variable that `tf.nn.embedding_lookup` looks them up in.
      start_tokens: int32 `[batch]`.
      end_token: int32 scalar.

    Raises:
      ValueError: `start_tokens` is no vector, or `end_token` no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = as_embedding_fn(embedding)
        self._start_tokens, self._end_token = convert_tokens(start_tokens, end_token)
        self._batch_size = tf.size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs)` before the first step."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the ids of the largest logits.

        Raises:
          TypeError: the outputs are not a tensor.
        """
        return tf.argmax(_one_tensor(outputs), axis=-1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns `(finished, next_inputs, state)`."""
        finished = tf.equal(sample_ids, self._end_token)
        next_inputs = tf.cond(
            tf.reduce_all(finished),
            # After the end the inputs do not matter.
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A helper for inference: the sample is drawn with the probabilities of the logits.

    Args:
      embedding, start_tokens, end_token: see `GreedyEmbeddingHelper`.
      softmax_temperature: divisor of the logits; None: 1.
      seed: seed of the samples.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns ids.

        Raises:
          TypeError: the outputs are not a tensor.
        """
        logits = _one_tensor(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """A helper for inference with functions of the samples.

    Args:
      sample_fn: function of the outputs that returns samples.
      sample_shape: shape of a sample.
      sample_dtype: type of the samples.
      start_inputs: inputs of the first step, `[batch, ...]`.
      end_fn: function of the samples that returns whether they are the end, bool `[batch]`.
      next_inputs_fn: function of the samples that returns inputs; None: the samples themselves.
    """

    def __init__(
        self,
        sample_fn: Function,
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Function,
        next_inputs_fn: Function | None = None,
    ) -> None:
        self._sample_fn, self._end_fn = sample_fn, end_fn
        self._sample_shape, self._sample_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> Any:
        """Batch size, a scalar int32 tensor."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """Shape of the samples without the batch."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """Type of the samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs)` before the first step."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the samples of `sample_fn`."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns `(finished, next_inputs, state)`."""
        next_inputs = self._next_inputs_fn(sample_ids) if self._next_inputs_fn else sample_ids
        return self._end_fn(sample_ids), next_inputs, state


def as_embedding_fn(embedding: Any) -> Function:
    """Returns a function of ids for a function, or for the variable of an embedding."""
    if callable(embedding):
        return embedding  # type: ignore[no-any-return]
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


def convert_tokens(start_tokens: Any, end_token: Any) -> tuple[Any, Any]:
    """Returns the start tokens and the end token as int32 tensors.

    Raises:
      ValueError: `start_tokens` is no vector, or `end_token` no scalar.
    """
    start_tokens = tf.convert_to_tensor(start_tokens, tf.int32, name="start_tokens")
    end_token = tf.convert_to_tensor(end_token, tf.int32, name="end_token")
    if start_tokens.shape.rank != 1:
        raise ValueError("start_tokens must be a vector")
    if end_token.shape.rank != 0:
        raise ValueError("end_token must be a scalar")
    return start_tokens, end_token


def _unstack_ta(inp: Any) -> Any:
    """Returns a TensorArray of the rows."""
    array = tf.TensorArray(inp.dtype, size=tf.shape(inp)[0], element_shape=inp.shape[1:])
    return array.unstack(inp)


def _one_tensor(outputs: Any) -> Any:
    if not tf.is_tensor(outputs):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs
