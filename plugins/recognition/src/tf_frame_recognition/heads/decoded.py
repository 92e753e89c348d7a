"""Words that a head read from a sequence of features."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf


class Decoded(NamedTuple):
    """Words of a batch.

    Attributes:
      ids: `[batch, max_length]` int32, -1 behind the end.
      log_probability: `[batch]` float32, natural logarithm.
    """

    ids: Any
    log_probability: Any


def lengths(ids: Any) -> Any:
    """Returns the lengths of words, `[batch]` int32.

    Args:
      ids: `[batch, max_length]` int32, negative behind the end.
    """
    return tf.reduce_sum(tf.cast(ids >= 0, tf.int32), axis=1)


def probability_per_step(decoded: Decoded) -> Any:
    """Returns the confidence, `[batch]`: the geometric mean over the characters and the end."""
    steps = tf.cast(lengths(decoded.ids) + 1, tf.float32)
    return tf.exp(decoded.log_probability / steps)
