"""The order of training examples, as a function of the seed and of the number in the stream."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def shuffled(number: Any, *, count: int, seed: int, together: int | None = None) -> Any:
    """Returns which of `count` examples has this number in the endless stream.

    Every `count` numbers in a row are a permutation of all examples, another one each
    time. Nothing is buffered, so that a position in the stream is one integer.

    Args:
      number: scalar int64, 0 or more.
      count: number of examples.
      seed: seed of the permutations.
      together: blocks of so many neighbours come one after the other, so that a disk need
        not seek, and are shuffled within; what is left behind the last whole block comes
        last. None: all examples are one block; 0 or 1: they come in their order.
    """
    epoch, position = number // count, number % count
    if together is not None and together < 2:
        return position
    if together is None or together >= count:
        return _permuted(position, count, seed, epoch)
    whole = count // together
    block = _permuted(tf.minimum(position // together, whole - 1), whole, seed, epoch)
    block = tf.where(position < whole * together, block, tf.zeros_like(block) + whole)
    size = tf.minimum(tf.cast(together, tf.int64), count - block * together)
    # Another key for each block of each epoch; a block is less than 2 ** 31.
    inner = _permuted(position % together, size, seed, (epoch + 1) * 2**31 + block)
    return block * together + inner


def _permuted(position: Any, count: Any, seed: int, key: Any) -> Any:
    seeds = tf.stack([tf.constant(seed, tf.int64), key])
    # Of each seed index_shuffle sees 31 bits only, stateless_uniform all of them.
    seeds = tf.random.stateless_uniform([2], seeds, None, None, tf.int64)
    return tf.random.experimental.index_shuffle(position, seed=seeds, max_index=count - 1)
