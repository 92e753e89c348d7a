"""Reading of labelled examples from each kind of file; see `tf_frame_vision.reading`.

The inputs import this only to make a data set: `--help` must not wait for TensorFlow.
Images of one size are held in memory, decoded once. The ops that read their files stand
outside the data set, which thus holds one copy; neither the graph nor a checkpoint has any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_classification.inputs.idx import header_bytes
from tf_frame_classification.inputs.labelled_images import LABEL
from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.examples import COLOUR_IMAGE, example, read_by_function
from tf_frame_vision.reading.image_files import image_file_examples
from tf_frame_vision.reading.record_facts import IMAGE
from tf_frame_vision.reading.records import RecordFormat

_LABEL = tf.TensorSpec([], tf.int64)
_GREY_IMAGE = tf.TensorSpec([None, None, 1], tf.uint8)
# Keys of slim and of ImageNet's scripts (slim, datasets/imagenet.py). The content decides the
# format of the image, so `image/format` is not read.


def _parse(parsed: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], Any]:
    images, labels = parsed[IMAGE].values, parsed[LABEL].values
    problem = tf.where(
        tf.equal(tf.size(images), 1),
        tf.where(tf.equal(tf.size(labels), 1), "", f"it has not one {LABEL}"),
        f"it has not one {IMAGE}",
    )
    image = tf.strings.reduce_join(images[:1])
    return image, {"label": tf.reduce_sum(labels[:1])}, problem


IMAGE_AND_LABEL = RecordFormat(
    keys={IMAGE: tf.io.VarLenFeature(tf.string), LABEL: tf.io.VarLenFeature(tf.int64)},
    specs={"label": _LABEL},
    parse=_parse,
)


def folder_examples(
    root: str, names: Sequence[str], labels: Sequence[int], order: Any, options: Any
) -> Any:
    """Returns a data set of `(number, example)` of image files.

    Args:
      root: the folder that the names begin at.
      names: paths below it.
      labels: one for each.
      order: data set of `(number, index)`.
      options: see `tf_frame_vision.reading.decoding.image_decoders`.
    """
    fields = {"label": arrays.Rows(np.asarray(labels, np.int64))}
    return image_file_examples(root, names, fields, order, options)


def idx_examples(images: str, labels: str, size: Sequence[int], order: Any) -> Any:
    """Returns a data set of `(number, example)` of grey images.

    Args:
      images, labels: idx files, gzipped or not.
      size: height and width of the images.
      order: data set of `(number, index)`.
    """
    pixels = tf.reshape(_idx_bytes(images, rank=3), [-1, *size, 1])
    classes = _idx_bytes(labels, rank=1)
    specs = {"image": _GREY_IMAGE, "label": _LABEL}

    def read(index: Any) -> dict[str, Any]:
        fields = {"image": pixels[index], "label": classes[index]}
        return example(specs, fields, _numbered(images, index))

    return read_by_function(order, read)


def cifar_examples(paths: Sequence[str], counts: Sequence[int], size: int, order: Any) -> Any:
    """Returns a data set of `(number, example)` of colour images.

    Args:
      paths: files of records: a byte of label, then all red, green and blue ones.
      counts: number of records of each.
      size: height and width of the images.
      order: data set of `(number, index)`.
    """
    contents = [tf.io.decode_raw(tf.io.read_file(path), tf.uint8) for path in paths]
    records = tf.reshape(tf.concat(contents, axis=0), [-1, 1 + 3 * size * size])
    ends = tf.cumsum(tf.constant(counts, tf.int64))
    specs = {"image": COLOUR_IMAGE, "label": _LABEL}

    def read(index: Any) -> dict[str, Any]:
        record = records[index]
        image = tf.transpose(tf.reshape(record[1:], [3, size, size]), [1, 2, 0])
        file = tf.reduce_sum(tf.cast(index >= ends, tf.int64))
        first = tf.gather(tf.concat([[0], ends], axis=0), file)
        name = _numbered(tf.gather(paths, file), index - first)
        return example(specs, {"image": image, "label": record[0]}, name)

    return read_by_function(order, read)


def _idx_bytes(path: str, *, rank: int) -> Any:
    data = tf.io.read_file(path)
    if path.endswith(".gz"):
        data = tf.io.decode_compressed(data, "GZIP")
    return tf.io.decode_raw(data, tf.uint8)[header_bytes(rank) :]


def _numbered(path: Any, index: Any) -> Any:
    return tf.strings.join([path, ": example ", tf.strings.as_string(index)])
