"""Reads image files: examples to train on, and images to predict on.

Images need no conversion to TFRecords. A training file that cannot be decoded becomes an example
with a `problem`, so that the run can name it or skip it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.decoding import image_decoders
from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    example,
    first_readable,
    read_by_data_sets,
    unreadable,
)
from tf_frame_vision.reading.pipeline import asserted, mapped


def image_file_examples(
    root: str, names: Sequence[str], fields: Mapping[str, Any], order: Any, options: Any = None
) -> Any:
    """Returns a data set of `(number, example)`; see `tf_frame_vision.reading.examples`.

    Args:
      root: the folder that the names begin at.
      names: paths below it.
      fields: further fields of the examples, such as `label`, by the index of the image: `Rows`,
        `Ragged` or `Texts` of `tf_frame_vision.reading.arrays`.
      order: data set of `(number, index)`.
      options: see `decoding.image_decoders`.
    """
    folder = tf.constant(os.fsencode(root))
    name = arrays.Texts(names)
    specs = {key: tf.TensorSpec(values.shape[1:], values.dtype) for key, values in fields.items()}
    specs["image"] = COLOUR_IMAGE

    def read(index: Any) -> Any:
        path = tf.strings.join([folder, name[index]], separator="/")
        values = {key: values[index] for key, values in fields.items()}
        return _read_image(path, specs, values, options)

    return read_by_data_sets(order, read)


def _read_image(path: Any, specs: Any, values: Mapping[str, Any], options: Any) -> Any:
    """Returns a data set of one example with the image of a file."""
    files = tf.data.Dataset.from_tensors(path)

    def read(decode: Callable[[Any], tuple[Any, Any]], path: Any) -> Any:
        image, problem = decode(tf.io.read_file(path))
        return example(specs, {**values, "image": image}, path, problem)

    attempts = [functools.partial(read, decode) for decode in image_decoders(options)]
    return first_readable(
        files, attempts, unreadable(specs, path, "it is missing or cannot be opened")
    )


def images_to_predict(
    paths: Sequence[str],
    prepare: Callable[[Any], Any],
    *,
    batch_size: int = 1,
    skip_corrupt: bool = False,
    options: Any = None,
) -> Any:
    """Returns batches of images to predict on, in order.

    The files are read while earlier ones are predicted. One that cannot be decoded ends
    the batches, or with `skip_corrupt` is left out.

    Args:
      paths: the files, of any size.
      prepare: from a decoded image, `[height, width, 3]` uint8, to that of a batch, or to a
        mapping of features.
      batch_size: images in a batch; 1 where their sizes differ.
      skip_corrupt: whether to leave out files that cannot be decoded.
      options: see `decoding.image_decoders`.

    Returns:
      A `tf.data.Dataset` of `{"image": [batch, ...] as prepared; "name": [batch] string,
      the path}`, or of the prepared features and `name`.
    """
    specs = {"image": COLOUR_IMAGE}

    def features(example: Any) -> Any:
        prepared = prepare(example["image"])
        features = prepared if isinstance(prepared, Mapping) else {"image": prepared}
        return {**features, "name": example["name"]}

    names = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
    order = tf.data.Dataset.zip((tf.data.Dataset.range(len(paths)), names))
    read = read_by_data_sets(order, lambda path: _read_image(path, specs, {}, options))
    read = read.map(lambda number, example: example)
    if skip_corrupt:
        read = read.filter(lambda example: tf.equal(example["problem"], ""))
    else:
        read = mapped(read, asserted)
    return mapped(read, features).batch(batch_size)
