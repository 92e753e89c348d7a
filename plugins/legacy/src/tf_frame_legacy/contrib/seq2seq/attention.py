"""Attention mechanisms: scores of a query against a memory, made to alignments.

Subclasses of old programs call the functions and attributes whose names begin with an underscore.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy import layers
from tf_frame_legacy.contrib.seq2seq.shapes import dimension, is_layer

Function = Callable[..., Any]


class AttentionMechanism:
    """The interface of attention mechanisms."""

    @property
    def alignments_size(self) -> Any:
        """Length of the memory: an integer, or a scalar tensor."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """Sizes of the mechanism's state, in its structure."""
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    """A mechanism with a memory, and the layers of the memory and of the query.

    Subclasses have `__call__(query, state)`, which returns alignments `[batch, memory_time]` and
    the next state.

    Args:
      query_layer: layer for queries; None: queries stay as they are.
      memory: `[batch, memory_time, ...]`, usually the outputs of an encoder.
      probability_fn: function `(scores, state)` that returns alignments.
      memory_sequence_length: `[batch]`; values of the memory beyond are zeros, and their scores
        are `score_mask_value`. None: all are valid.
      memory_layer: layer that makes the keys of the memory; None: the memory is the keys.
      check_inner_dims_defined: whether the memory's inner dimensions must be known.
      score_mask_value: score of invalid values; None: minus infinity.
      custom_key_value_fn: function `(keys, values)` that returns other keys and values.
      name: name scope.

    Attributes:
      values: the memory, with zeros for invalid values.
      keys: the values after `memory_layer`.

    Raises:
      TypeError: a layer is no layer, or `probability_fn` is not callable.
      ValueError: an inner dimension of the memory is unknown.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Function,
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Function | None = None,
        name: str | None = None,
    ) -> None:
        for argument, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not is_layer(layer):
                raise TypeError(f"{argument} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        self._query_layer, self._memory_layer = query_layer, memory_layer
        memory = tf.nest.map_structure(tf.convert_to_tensor, memory)
        dtype = getattr(memory_layer, "dtype", None) or tf.nest.flatten(memory)[0].dtype
        self.dtype = dtype
        if score_mask_value is None:
            score_mask_value = tf.as_dtype(dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, state: probability_fn(
            _maybe_mask_score(
                score,
                memory_sequence_length=memory_sequence_length,
                score_mask_value=score_mask_value,
            ),
            state,
        )
        with tf.name_scope(name, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            self._values = _prepare_memory(
                memory,
                memory_sequence_length=memory_sequence_length,
                check_inner_dims_defined=check_inner_dims_defined,
            )
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = dimension(self._keys, 0)
            self._alignments_size = dimension(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        """The layer that makes the keys, or None."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer for queries, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, `[batch, memory_time, ...]`."""
        return self._values

    @property
    def keys(self) -> Any:
        """The keys, `[batch, memory_time, units]`."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """Batch size of the memory: an integer, or a scalar tensor."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """Length of the memory: an integer, or a scalar tensor."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """Size of the state, which is the previous alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns zeros, `[batch, memory_time]`."""
        return rnn_cell_impl._zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the initial alignments."""
        return self.initial_alignments(batch_size, dtype)


class LuongAttention(_BaseAttentionMechanism):
    """Multiplicative attention (Luong et al. 2015, https://arxiv.org/abs/1508.04025).

    Args:
      num_units: depth of the queries, which have no layer.
      memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: see
        `_BaseAttentionMechanism`.
      scale: whether to multiply scores with a variable `attention_g`.
      probability_fn: function of the scores; None: softmax.
      dtype: type of the memory layer; None: float32.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Function | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Function | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_without_state(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns alignments and the next state, both `[batch, memory_time]`."""
        with tf.variable_scope(None, "luong_attention", [query]):
            score = _luong_score(query, self._keys, _scale_variable(self._scale, query.dtype))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(_BaseAttentionMechanism):
    """Additive attention (Bahdanau et al. 2015, https://arxiv.org/abs/1409.0473).

    Args:
      num_units: depth of the query and memory layers.
      memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: see
        `_BaseAttentionMechanism`.
      normalize: whether to normalise the weights (https://arxiv.org/abs/1602.07868), with
        variables `attention_g` and `attention_b`.
      probability_fn: function of the scores; None: softmax.
      dtype: type of the layers; None: float32.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Function | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Function | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=_projection(num_units, "query_layer", dtype),
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_without_state(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns alignments and the next state, both `[batch, memory_time]`."""
        with tf.variable_scope(None, "bahdanau_attention", [query]):
            score = _bahdanau_score_with_variables(self, query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _projection(units: int, name: str, dtype: Any) -> Any:
    return layers.Dense(units, use_bias=False, name=name, dtype=dtype or tf.float32)


def _without_state(probability_fn: Function | None) -> Function:
    function = probability_fn or tf.nn.softmax
    return lambda score, _: function(score)


def _scale_variable(scale: bool, dtype: Any) -> Any:
    if not scale:
        return None
    return tf.get_variable("attention_g", (), dtype, tf.ones_initializer())


def _luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """Returns the products of a query with keys, `[batch, memory_time]`.

    Args:
      query: `[batch, units]`.
      keys: `[batch, memory_time, units]`.
      scale: factor of the scores; None: 1.

    Raises:
      ValueError: the depths differ.
    """
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys: the query "
            f"({query.name}) has {depth} units, the keys ({keys.name}) have {units}. Perhaps "
            f"num_units must be the depth of the query ({depth})?"
        )
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _bahdanau_score(
    processed_query: Any,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Any:
    """Returns `v * tanh(keys + query)`, summed over the units: `[batch, memory_time]`.

    Args:
      processed_query: `[batch, units]`.
      keys: `[batch, memory_time, units]`.
      attention_v: weights, `[units]`.
      attention_g, attention_b: length of the normalised weights, and `[units]` biases; None: the
        weights are not normalised.
    """
    hidden = keys + tf.expand_dims(processed_query, 1)
    if attention_g is not None and attention_b is not None:
        norm = tf.rsqrt(tf.reduce_sum(tf.square(attention_v)))
        attention_v = attention_g * attention_v * norm
        hidden += attention_b
    return tf.reduce_sum(attention_v * tf.tanh(hidden), [2])


def _bahdanau_score_with_variables(mechanism: Any, query: Any) -> Any:
    """Returns additive scores with the variables of the current scope."""
    layer, units = mechanism.query_layer, mechanism._num_units
    processed_query = layer(query) if layer else query
    attention_v = tf.get_variable("attention_v", [units], query.dtype)
    if not mechanism._normalize:
        return _bahdanau_score(processed_query, mechanism.keys, attention_v)
    length = tf.constant_initializer(math.sqrt(1.0 / units))
    attention_g = tf.get_variable("attention_g", (), query.dtype, length)
    attention_b = tf.get_variable("attention_b", [units], query.dtype, tf.zeros_initializer())
    return _bahdanau_score(processed_query, mechanism.keys, attention_v, attention_g, attention_b)


def _prepare_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """Returns the memory with zeros for invalid values.

    Args:
      memory: `[batch, memory_time, ...]`, or a structure of such tensors.
      memory_sequence_length: valid lengths, `[batch]`.
      memory_mask: valid values, `[batch, memory_time]`, instead of the lengths.
      check_inner_dims_defined: whether the inner dimensions must be known.

    Raises:
      ValueError: an inner dimension is unknown; or both lengths and a mask are given.
    """
    memory = tf.nest.map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    parts = tf.nest.flatten(memory)
    for part in parts if check_inner_dims_defined else []:
        if not part.shape[2:].is_fully_defined():
            raise ValueError(
                f"Expected memory {part.name} to have fully defined inner dims, but saw shape: "
                f"{part.shape}"
            )
    mask = _memory_mask(memory_sequence_length, memory_mask, parts[0])
    if mask is None:
        return memory
    return tf.nest.map_structure(lambda m: m * _with_rank_of(m, tf.cast(mask, m.dtype)), memory)


def _maybe_mask_score(
    score: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Any:
    """Returns scores `[batch, memory_time]` with `score_mask_value` for invalid values.

    Raises:
      InvalidArgumentError: a length is not positive.
      ValueError: both lengths and a mask are given.
    """
    mask = _memory_mask(memory_sequence_length, memory_mask, score)
    if mask is None:
        return score
    if memory_sequence_length is not None:
        message = "All values in memory_sequence_length must be greater than zero."
        positive = tf.assert_positive(memory_sequence_length, message=message)
        with tf.control_dependencies([positive]):
            mask = tf.identity(mask)
    return tf.where(mask, score, score_mask_value * tf.ones_like(score))


def _memory_mask(memory_sequence_length: Any, memory_mask: Any, like: Any) -> Any:
    if memory_sequence_length is None:
        return memory_mask
    if memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
    return tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(like)[1])


def _with_rank_of(tensor: Any, mask: Any) -> Any:
    rank = tf.rank(tensor) if tensor.shape.rank is None else tensor.shape.rank
    ones = tf.ones([rank - 2], tf.int32)
    return tf.reshape(mask, tf.concat((tf.shape(mask), ones), 0))
