"""From examples as they are read to batches as a network takes them.

Every training example is a function of the seed and of its number in an endless stream
that all replicas share. So an iterator can be saved and restored exactly.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext, Mode
from tf_frame_classification.image_input import ImageInput
from tf_frame_classification.reading import plain
from tf_frame_classification.shuffling import shuffled
from tf_frame_classification.skipped import without_corrupt

_INT64_MAX = 2**63 - 1


def training_dataset(source: ImageInput, context: InputContext) -> Any:
    """Returns endless batches; replica k takes the examples k, k + n, ... of the stream.

    Args:
      source: the data and its options.
      context: batch size, seed and shard.
    """
    split, params = source.splits[Mode.TRAIN], source.params

    def placed(number: Any) -> Any:
        index = shuffled(
            number, count=split.count, seed=context.seed, together=params.shuffle_buffer
        )
        return number, index

    numbers = tf.data.Dataset.range(context.shard_index, _INT64_MAX, context.num_shards)
    read = source.examples(split, numbers.map(plain(placed)))
    examples = _prepared(source, split, read, context, is_training=params.augment)
    return _tuned_by_hand(examples.batch(context.batch_size, drop_remainder=True))


def evaluation_dataset(source: ImageInput, context: InputContext, mode: Mode) -> Any:
    """Returns every example once, in order; the last batch may be smaller.

    Args:
      source: the data and its options.
      context: batch size and shard.
      mode: `EVAL` or `PREDICT`.
    """
    split = source.splits[mode]
    numbers = tf.data.Dataset.range(split.count).shard(context.num_shards, context.shard_index)
    read = source.examples(split, numbers.map(lambda number: (number, number)))
    examples = _prepared(
        source, split, read, context, is_training=False, named=source.names_examples
    )
    return _tuned_by_hand(examples.batch(context.batch_size))


def image_of_network(source: ImageInput, image: Any, *, is_training: bool, seed: Any) -> Any:
    """Returns `[size, size, channels]` float32.

    Args:
      source: size, channels and preprocessing.
      image: `[height, width, 1 or 3]` uint8.
      is_training: whether to draw a random variant.
      seed: `[2]` integers that decide it.
    """
    if source.channels != image.shape[-1]:
        to = tf.image.rgb_to_grayscale if source.channels == 1 else tf.image.grayscale_to_rgb
        image = to(image)
    prepared = source.preprocess(
        image, height=source.size, width=source.size, is_training=is_training, seed=seed
    )
    return tf.ensure_shape(prepared, [source.size, source.size, source.channels])


def _prepared(
    source: ImageInput,
    split: Any,
    read: Any,
    context: InputContext,
    *,
    is_training: bool,
    named: bool = False,
) -> Any:
    """The examples that can be used, preprocessed; the first that cannot ends it, or is counted."""

    def example(number: Any, found: Any, told: Any) -> Any:
        seed = tf.stack([tf.constant(context.seed, tf.int64), number])
        image = image_of_network(source, found["image"], is_training=is_training, seed=seed)
        features = {"image": image, **({"name": found["name"]} if named else {}), **told}
        return features, {"label": tf.cast(found["label"], tf.int32)}

    def checked_example(number: Any, found: Any) -> Any:
        return example(number, _checked(_labelled(source, found)), {})

    usable: Any = read
    function: Any = checked_example
    if source.params.skip_corrupt:
        labelled = read.map(plain(lambda number, found: (number, _labelled(source, found))))
        usable, function = without_corrupt(labelled, split), example
    return usable.map(plain(function), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


def _labelled(source: ImageInput, found: Any) -> Any:
    """The example with its label less the offset; one without such a class has a problem."""
    offset, count = source.params.labels_offset, len(source.class_names)
    label = found["label"] - offset
    told = tf.strings.join(
        [
            found["name"],
            ": its label is ",
            tf.strings.as_string(found["label"]),
            f"; labels are {offset} to {offset + count - 1}, of {count} classes",
        ]
    )
    fits = (label >= 0) & (label < count)
    problem = tf.where(fits | tf.not_equal(found["problem"], ""), found["problem"], told)
    return {**found, "label": label, "problem": problem}


def _checked(found: Any) -> Any:
    """The example; one with a problem ends the run."""
    what_to_do = "; mend or remove it, or give --input.skip_corrupt"
    told = tf.strings.join([found["problem"], what_to_do])
    with tf.control_dependencies([tf.Assert(tf.equal(found["problem"], ""), [told])]):
        return tf.nest.map_structure(tf.identity, found)


def _tuned_by_hand(dataset: Any) -> Any:
    options = tf.data.Options()
    # Closing a session may wait for the tuner's thread, up to 40 s (TF 2.21). Without it
    # AUTOTUNE means one call per core.
    options.autotune.enabled = False
    return dataset.with_options(options)
