"""Reads image files: examples to train on, and images to predict on.

Images need no conversion to TFRecords. A training file that cannot be decoded becomes an example
with a `problem`, so that the run can name it or skip it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    decode_image,
    example,
    first_readable,
    read_by_data_sets,
    unreadable,
    why_not_decoded,
    without_autograph,
)


def image_file_examples(
    root: str, names: Sequence[str], fields: Mapping[str, Any], order: Any
) -> Any:
    """Returns a data set of `(number, example)`; see `tf_frame_vision.reading.examples`.

    Args:
      root: the folder that the names begin at.
      names: paths below it.
      fields: further fields of the examples, such as `label`: `[len(names), ...]` each, or
        ragged, `[len(names), None, ...]`.
      order: data set of `(number, index)`.
    """
    folder = tf.constant(os.fsencode(root))
    every_name = arrays.strings(names)
    specs = {key: tf.TensorSpec(values.shape[1:], values.dtype) for key, values in fields.items()}
    specs["image"] = COLOUR_IMAGE

    def read(index: Any) -> Any:
        path = tf.strings.join([folder, every_name[index]], separator="/")
        values = {key: values[index] for key, values in fields.items()}
        files = tf.data.Dataset.from_tensors(path)

        def whole(path: Any) -> Any:
            image = decode_image(tf.io.read_file(path))
            return example(specs, {**values, "image": image}, path)

        def not_decoded(path: Any) -> Any:
            return unreadable(specs, path, why_not_decoded(tf.io.read_file(path)))

        attempts = [files.map(without_autograph(attempt)) for attempt in (whole, not_decoded)]
        return first_readable(attempts, unreadable(specs, path, "it cannot be read"))

    return read_by_data_sets(order, read)


def images_to_predict(
    paths: Sequence[str],
    prepare: Callable[[Any], Any],
    *,
    batch_size: int = 1,
    skip_corrupt: bool = False,
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

    Returns:
      A `tf.data.Dataset` of `{"image": [batch, ...] as prepared; "name": [batch] string,
      the path}`, or of the prepared features and `name`.
    """

    def image(path: Any) -> Any:
        prepared = prepare(decode_image(tf.io.read_file(path)))
        features = prepared if isinstance(prepared, Mapping) else {"image": prepared}
        return {**features, "name": path}

    names = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
    read = names.map(
        without_autograph(image), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    return (read.ignore_errors() if skip_corrupt else read).batch(batch_size)
