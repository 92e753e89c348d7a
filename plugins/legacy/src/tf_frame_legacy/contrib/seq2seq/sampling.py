"""Random samples of distributions, for the helpers."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def bernoulli_sample(
    probs: Any = None,
    logits: Any = None,
    dtype: Any = tf.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Any:
    """Returns ones with given probabilities, `[*sample_shape, *shape of probs]`.

    Args:
      probs: the probabilities; None: the sigmoid of `logits`.
      logits: logits of the probabilities.
      dtype: type of the samples.
      sample_shape: shape of the samples of a probability: a vector, or a scalar for one axis.
      seed: seed of the operation.
    """
    probs = tf.sigmoid(logits) if probs is None else tf.convert_to_tensor(probs)
    shape = tf.concat([_vector(sample_shape), tf.shape(probs)], 0)
    uniform = tf.random_uniform(shape, seed=seed, dtype=probs.dtype)
    return tf.cast(tf.less(uniform, probs), dtype)


def categorical_sample(
    logits: Any, dtype: Any = tf.int32, sample_shape: Any = (), seed: int | None = None
) -> Any:
    """Returns classes with the probabilities of their logits, `[*sample_shape, *batch]`.

    Args:
      logits: `[*batch, classes]`.
      dtype, sample_shape, seed: see `bernoulli_sample`.
    """
    logits = tf.convert_to_tensor(logits, name="logits")
    sample_shape, batch_shape = _vector(sample_shape), tf.shape(logits)[:-1]
    rows = tf.reshape(logits, [-1, tf.shape(logits)[-1]])
    # int64 for logits of 8 bytes draws the numbers that the original drew.
    draw_dtype = tf.int64 if logits.dtype.size > 4 else tf.int32
    draws = tf.random.categorical(rows, tf.reduce_prod(sample_shape), draw_dtype, seed)
    draws = tf.reshape(tf.transpose(draws), tf.concat([sample_shape, batch_shape], 0))
    return tf.cast(draws, dtype)


def _vector(shape: Any) -> Any:
    return tf.reshape(tf.convert_to_tensor(shape, tf.int32), [-1])
