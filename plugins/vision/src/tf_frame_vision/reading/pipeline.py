"""Pipeline of examples: shuffled order, preparation and batches.

    order   data set of `(number, index)`, both scalar int64: the example's number in the
            stream of examples, and its index in the data
    read    data set of `(number, example)`, as `records`, `image_files` and others read it

Every training example is a function of the seed and of its number in an endless stream
that all replicas share. So an iterator can be saved and restored exactly: a resumed run
trains on the examples that an uninterrupted one would have come to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext
from tf_frame_vision.reading.examples import without_autograph
from tf_frame_vision.reading.skipped import as_utf8, without_unusable

_INT64_MAX = 2**63 - 1


def training_numbers(context: InputContext) -> Any:
    """Returns the endless numbers k, k + n, ... of replica k of n, scalar int64."""
    return tf.data.Dataset.range(context.shard_index, _INT64_MAX, context.num_shards)


def training_order(count: int, context: InputContext, *, together: int | None = None) -> Any:
    """Returns the endless order of training; see the module.

    Args:
      together: see `shuffled`.
    """

    def placed(number: Any) -> Any:
        return number, shuffled(number, count=count, seed=context.seed, together=together)

    return training_numbers(context).map(without_autograph(placed))


def evaluation_order(count: int, context: InputContext) -> Any:
    """Returns the order of evaluation, every example once; see the module."""
    numbers = tf.data.Dataset.range(count).shard(context.num_shards, context.shard_index)
    return numbers.map(lambda number: (number, number))


def prepared(
    read: Any,
    prepare: Callable[[Any, Any], tuple[dict[str, Any], Any]],
    *,
    check: Callable[[Any], Any],
    count: int,
    damaged: Sequence[str] = (),
    skip_corrupt: bool = False,
) -> Any:
    """Prepares the examples that can be used; the first that cannot ends the data set.

    Args:
      read: data set of `(number, example)`.
      prepare: from a number and an example to features and labels.
      check: returns an example, with a `problem` where it cannot be used.
      count: number of examples in one pass.
      damaged: see `skipped`.
      skip_corrupt: leave out and count examples that cannot be used: see `skipped`.

    Returns:
      A data set of `(features, labels)`.
    """

    def checked(number: Any, example: Any) -> Any:
        return prepare(number, asserted(check(example)))

    def counted(number: Any, example: Any, skipped: Any) -> Any:
        features, labels = prepare(number, example)
        return {**features, **skipped}, labels

    function: Callable[..., Any] = checked
    if skip_corrupt:
        read = read.map(without_autograph(lambda number, example: (number, check(example))))
        read, function = without_unusable(read, count=count, damaged=damaged), counted
    return mapped(read, function)


def mapped(dataset: Any, function: Callable[..., Any]) -> Any:
    """Applies a function to each element, several at a time, in their order."""
    return dataset.map(
        without_autograph(function), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )


def batched(
    dataset: Any,
    batch_size: int,
    *,
    drop_remainder: bool,
    padding: Mapping[str, float] | None = None,
) -> Any:
    """Makes batches, and turns off the autotuning of the data set.

    Args:
      dataset: data set of examples.
      batch_size: examples in a batch.
      drop_remainder: whether to leave out a smaller last batch; the graph then knows the size.
      padding: name of a feature or label -> value that pads smaller ones of a
        batch to the largest one, at their ends; None: all have one size.
    """
    options = tf.data.Options()
    # Closing a session may wait for the tuner's thread, up to 40 s (TF 2.21). Without it
    # AUTOTUNE means one call per core.
    options.autotune.enabled = False
    if padding is None:
        batches = dataset.batch(batch_size, drop_remainder=drop_remainder)
    else:
        values = tuple(
            {name: _padding(name, spec, padding) for name, spec in part.items()}
            for part in dataset.element_spec
        )
        batches = dataset.padded_batch(
            batch_size, padding_values=values, drop_remainder=drop_remainder
        )
    return batches.with_options(options)


def _padding(name: str, spec: Any, padding: Mapping[str, float]) -> Any:
    """Returns the value that pads a component of examples; unnamed components have one size."""
    value: Any = "" if spec.dtype == tf.string else padding.get(name, 0)
    return tf.constant(value, spec.dtype)


def asserted(example: Any) -> Any:
    """Returns the example; one with a problem ends the run."""
    what_to_do = "; mend or remove it, or give --input.skip_corrupt"
    message = as_utf8(tf.strings.join([example["problem"], what_to_do]))
    with tf.control_dependencies([tf.Assert(tf.equal(example["problem"], ""), [message])]):
        return tf.nest.map_structure(tf.identity, example)


def shuffled(number: Any, *, count: int, seed: int, together: int | None = None) -> Any:
    """Returns the index of the example that has this number in the endless stream.

    Every `count` numbers in a row are a permutation of all examples, another one each
    time. Nothing is buffered, so that a position in the stream is one integer.

    Args:
      number: scalar int64, 0 or more.
      seed: seed of the permutations.
      together: size of blocks of neighbours, which come one after the other, so that a disk
        need not seek, and are shuffled within; the examples after the last whole block
        come last. None: all examples are one block; 0 or 1: they come in their order.
    """
    epoch, position = number // count, number % count
    if together is not None and together < 2:
        return position
    if together is None or together >= count:
        return _permuted(position, count, seed, epoch)
    num_blocks = count // together
    block = _permuted(tf.minimum(position // together, num_blocks - 1), num_blocks, seed, epoch)
    block = tf.where(position < num_blocks * together, block, tf.zeros_like(block) + num_blocks)
    size = tf.minimum(tf.cast(together, tf.int64), count - block * together)
    # Another key for each block of each epoch; a block is less than 2 ** 31.
    inner = _permuted(position % together, size, seed, (epoch + 1) * 2**31 + block)
    return block * together + inner


def _permuted(position: Any, count: Any, seed: int, key: Any) -> Any:
    seeds = tf.stack([tf.constant(seed, tf.int64), key])
    # Of each seed index_shuffle sees 31 bits only, stateless_uniform all of them.
    seeds = tf.random.stateless_uniform([2], seeds, None, None, tf.int64)
    return tf.random.experimental.index_shuffle(position, seed=seeds, max_index=count - 1)
