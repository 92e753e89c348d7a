"""`Decoder`, the interface of decoders, and `dynamic_decode`, the loop that runs one."""

from __future__ import annotations

import abc
import contextlib
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl
from tensorflow.python.ops import rnn


class Decoder(abc.ABC):
    """A decoder, which `dynamic_decode` runs step by step.

    ```python
    finished, inputs, state = decoder.initialize()
    while not all(finished):
        outputs, state, inputs, finished = decoder.step(time, inputs, state)
    outputs, state = decoder.finalize(outputs, state, lengths)
    ```
    """

    @property
    def batch_size(self) -> Any:
        """The batch size."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """Sizes of the outputs without the batch, in the structure of the outputs."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """Types of the outputs, in their structure."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs, state)` before the first step."""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns `(outputs, next_state, next_inputs, finished)`.

        Args:
          time: the step, an int32 scalar.
          inputs: inputs of the step.
          state: state after the previous step.
          name: name scope.
        """

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns the final `(outputs, state)`.

        Args:
          outputs: outputs of all steps, `[time, batch, ...]`.
          final_state: state after the last step.
          sequence_lengths: int32 `[batch]`.
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `finished` counts as returned; otherwise what is finished stays finished."""
        return False


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until all sequences are finished.

    Args:
      decoder: a `Decoder`.
      output_time_major: whether outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.
      impute_finished: whether finished sequences keep their states and have zeros as outputs.
      maximum_iterations: largest number of steps, an int32 scalar; None: no limit.
      parallel_iterations, swap_memory: see `tf.while_loop`.
      scope: variable scope; None: "decoder".
      **kwargs: none; the original had some for Keras decoders.

    Returns:
      Final outputs, final state and lengths (int32 `[batch]`).

    Raises:
      TypeError: the decoder is no `Decoder`, or an argument is unknown.
      ValueError: `maximum_iterations` is no scalar.
    """
    if kwargs:
        raise TypeError(f"dynamic_decode has no arguments {sorted(kwargs)} for a Decoder")
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with tf.variable_scope(scope, "decoder") as varscope:
        # Reading variables once, rather than in each step, as in tf.nn.dynamic_rnn.
        if rnn._should_cache() and varscope.caching_device is None:
            varscope.set_caching_device(lambda op: op.device)
        limit = _scalar_limit(maximum_iterations)
        finished, inputs, state = decoder.initialize()
        if limit is not None:
            finished = tf.logical_or(finished, limit <= 0)
        _, outputs, state, _, _, lengths = tf.while_loop(
            lambda time, outputs, state, inputs, finished, lengths: ~tf.reduce_all(finished),
            _Step(decoder, impute_finished),
            loop_vars=(
                tf.constant(0, tf.int32),
                _new_outputs(decoder),
                state,
                inputs,
                finished,
                tf.zeros_like(finished, dtype=tf.int32),
            ),
            parallel_iterations=parallel_iterations,
            maximum_iterations=limit,
            swap_memory=swap_memory,
        )
        outputs = tf.nest.map_structure(lambda array: array.stack(), outputs)
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(rnn._transpose_batch_time, outputs)
    return outputs, state, lengths


class _Step:
    """The body of the loop.

    Args:
      decoder: the decoder.
      impute_finished: see `dynamic_decode`.
    """

    def __init__(self, decoder: Decoder, impute_finished: bool) -> None:
        self.decoder = decoder
        self.zeros = None
        if impute_finished:
            self.zeros = _create_zero_outputs(
                decoder.output_size, decoder.output_dtype, decoder.batch_size
            )

    def __call__(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> tuple[Any, ...]:
        """Returns the loop variables after a step."""
        outputs, next_state, next_inputs, now_finished = self.decoder.step(time, inputs, state)
        tf.nest.assert_same_structure(state, next_state)
        tf.nest.assert_same_structure(arrays, outputs)
        tf.nest.assert_same_structure(inputs, next_inputs)
        if self.zeros is not None:
            outputs = tf.nest.map_structure(
                lambda out, zero: tf.where(finished, zero, out), outputs, self.zeros
            )
            next_state = tf.nest.map_structure(
                lambda new, old: _kept_if(finished, new, old), next_state, state
            )
        next_finished = now_finished
        if not self.decoder.tracks_own_finished:
            next_finished = tf.logical_or(now_finished, finished)
        lengths = tf.where(finished, lengths, tf.fill(tf.shape(lengths), time + 1))
        arrays = tf.nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths


def _kept_if(finished: Any, new: Any, old: Any) -> Any:
    """Returns the old state of finished sequences; TensorArrays and scalars are the new ones."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.rank == 0 else tf.where(finished, old, new)


def _create_zero_outputs(size: Any, dtype: Any, batch_size: Any) -> Any:
    """Returns zeros of the sizes and types of the outputs of a step."""
    return tf.nest.map_structure(
        lambda s, d: rnn_cell_impl._zero_state_tensors(s, batch_size, d), size, dtype
    )


def _new_outputs(decoder: Decoder) -> Any:
    """Returns an empty TensorArray for each output."""
    batch_size = tf.get_static_value(tf.convert_to_tensor(decoder.batch_size))

    def array(size: Any, dtype: Any) -> Any:
        # Other sizes may be wrong in old cells; the shape then is that of the first output.
        known = isinstance(size, tf.TensorShape) and size.rank != 0
        shape = tf.TensorShape([batch_size]).concatenate(size) if known else None
        return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)

    return tf.nest.map_structure(array, decoder.output_size, decoder.output_dtype)


def _scalar_limit(maximum_iterations: Any) -> Any:
    if maximum_iterations is None:
        return None
    limit = tf.convert_to_tensor(maximum_iterations, tf.int32, name="maximum_iterations")
    if limit.shape.rank != 0:
        raise ValueError("maximum_iterations must be a scalar")
    return limit
