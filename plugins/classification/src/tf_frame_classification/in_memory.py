"""Images of one size that are held in memory, decoded once.

The ops that read the files stand outside the data set, which thus holds one copy; neither the
graph nor a checkpoint has any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_classification.cifar10 import RECORD_BYTES, SIZE
from tf_frame_classification.idx import header_bytes
from tf_frame_classification.reading import read_by_function, reading


def idx_examples(images: str, labels: str, size: Sequence[int], order: Any) -> Any:
    """Returns the data set that `ImageInput.examples` describes; images are grey.

    Args:
      images, labels: idx files, gzipped or not.
      size: height and width of the images.
      order: see there.
    """
    pixels = tf.reshape(_idx_bytes(images, rank=3), [-1, *size, 1])
    classes = _idx_bytes(labels, rank=1)

    def example(index: Any) -> dict[str, Any]:
        return reading(pixels[index], classes[index], _numbered(images, index))

    return read_by_function(order, example)


def cifar_examples(paths: Sequence[str], counts: Sequence[int], order: Any) -> Any:
    """Returns the data set that `ImageInput.examples` describes; images are in colour.

    Args:
      paths: files of records.
      counts: how many each has.
      order: see there.
    """
    contents = [tf.io.decode_raw(tf.io.read_file(path), tf.uint8) for path in paths]
    records = tf.reshape(tf.concat(contents, axis=0), [-1, RECORD_BYTES])
    ends = tf.cumsum(tf.constant(counts, tf.int64))

    def example(index: Any) -> dict[str, Any]:
        record = records[index]
        image = tf.transpose(tf.reshape(record[1:], [3, SIZE, SIZE]), [1, 2, 0])
        file = tf.reduce_sum(tf.cast(index >= ends, tf.int64))
        first = tf.gather(tf.concat([[0], ends], axis=0), file)
        return reading(image, record[0], _numbered(tf.gather(paths, file), index - first))

    return read_by_function(order, example)


def _idx_bytes(path: str, *, rank: int) -> Any:
    data = tf.io.read_file(path)
    if path.endswith(".gz"):
        data = tf.io.decode_compressed(data, "GZIP")
    return tf.io.decode_raw(data, tf.uint8)[header_bytes(rank) :]


def _numbered(path: Any, index: Any) -> Any:
    return tf.strings.join([path, ": example ", tf.strings.as_string(index)])
