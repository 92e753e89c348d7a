"""Images and labels of TFRecord files, each record read by itself."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_classification import packed
from tf_frame_classification.reading import (
    decode_picture,
    failed,
    first_that_works,
    plain,
    read_by_data_sets,
    reading,
    why_not_decoded,
)
from tf_frame_classification.tfrecord_index import RecordIndex

# Keys of slim and of ImageNet's scripts (slim, datasets/imagenet.py).
_IMAGE, _LABEL = "image/encoded", "image/class/label"
# What decides the format is the content, so `image/format` is not read.
_KEYS = {
    _IMAGE: tf.io.VarLenFeature(tf.string),
    _LABEL: tf.io.VarLenFeature(tf.int64),
}
# Each record is opened anew: a larger buffer would read what follows it in vain.
_BUFFER_BYTES = 0


def record_examples(indices: Sequence[RecordIndex], order: Any) -> Any:
    """Returns the data set that `ImageInput.examples` describes.

    Args:
      indices: the records of each file; an example's index counts through all of them.
      order: see there.
    """
    paths = packed.strings([str(index.path) for index in indices])
    counts = [len(index.offsets) for index in indices]
    ends = packed.integers(list(itertools.accumulate(counts)))
    # One vector of sizes packs better than offsets that begin anew in each file.
    offsets = packed.integers(list(itertools.chain.from_iterable(i.offsets for i in indices)))

    def example(index: Any) -> Any:
        file = tf.searchsorted(ends, [index], side="right")[0]
        begin = tf.where(file > 0, ends[tf.maximum(file - 1, 0)], tf.zeros_like(index))
        path, offset = paths[file], offsets[index]
        return _example(path, offset, _name(path, index - begin, offset))

    return read_by_data_sets(order, example)


def _example(path: Any, offset: Any, name: Any) -> Any:
    record = _record(path, offset)

    def whole(data: Any) -> dict[str, Any]:
        encoded, label, problem = _parsed(data)
        image = tf.cond(
            tf.equal(problem, ""),
            lambda: decode_picture(encoded),
            lambda: tf.zeros([1, 1, 3], tf.uint8),
        )
        return reading(image, label, name, problem)

    def not_decoded(data: Any) -> dict[str, Any]:
        return failed(name, why_not_decoded(_parsed(data)[0]))

    def not_parsed(data: Any) -> dict[str, Any]:
        del data
        return failed(name, "it is no tf.train.Example")

    attempts = [record.map(plain(attempt)) for attempt in (whole, not_decoded, not_parsed)]
    return first_that_works(attempts, failed(name, "the checksum of its data is wrong"))


def _record(path: Any, offset: Any) -> Any:
    """A data set of the one record at an offset."""
    # tf.data.TFRecordDataset has no offsets.
    variant = tf.raw_ops.TFRecordDatasetV2(
        filenames=path[tf.newaxis],
        compression_type="",
        buffer_size=tf.constant(_BUFFER_BYTES, tf.int64),
        byte_offsets=offset[tf.newaxis],
    )
    spec = tf.TensorSpec([], tf.string)
    return tf.data.experimental.from_variant(variant, spec).take(1)


def _parsed(data: Any) -> tuple[Any, Any, Any]:
    """The encoded image, the label, and what is wrong with the keys."""
    features = tf.io.parse_single_example(data, _KEYS)
    images, labels = features[_IMAGE].values, features[_LABEL].values
    problem = tf.where(
        tf.equal(tf.size(images), 1),
        tf.where(tf.equal(tf.size(labels), 1), "", f"it has not one {_LABEL}"),
        f"it has not one {_IMAGE}",
    )
    image = tf.strings.reduce_join(images[:1])
    return image, tf.reduce_sum(labels[:1]), problem


def _name(path: Any, number: Any, offset: Any) -> Any:
    text = tf.strings.as_string
    return tf.strings.join([path, ": record ", text(number), " (byte offset ", text(offset), ")"])
