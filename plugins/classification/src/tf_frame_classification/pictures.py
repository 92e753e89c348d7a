"""Image files: to train on, and to predict on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext
from tf_frame_classification import packed
from tf_frame_classification.image_input import ImageInput
from tf_frame_classification.pipeline import image_of_network
from tf_frame_classification.reading import (
    decode_picture,
    failed,
    first_that_works,
    plain,
    read_by_data_sets,
    reading,
    why_not_decoded,
)


def picture_examples(root: str, names: Sequence[str], labels: Sequence[int], order: Any) -> Any:
    """Returns the data set that `ImageInput.examples` describes.

    Args:
      root: the folder that the names begin at.
      names: paths below it.
      labels: one for each.
      order: see there.
    """
    folder = tf.constant(os.fsencode(root))
    every_name, every_label = packed.strings(names), packed.integers(labels)

    def example(index: Any) -> Any:
        path = tf.strings.join([folder, every_name[index]], separator="/")
        label = every_label[index]
        files = tf.data.Dataset.from_tensors(path)

        def read(path: Any) -> Any:
            return reading(decode_picture(tf.io.read_file(path)), label, path)

        def not_decoded(path: Any) -> Any:
            return failed(path, why_not_decoded(tf.io.read_file(path)))

        attempts = [files.map(plain(read)), files.map(plain(not_decoded))]
        return first_that_works(attempts, failed(path, "it cannot be read"))

    return read_by_data_sets(order, example)


def pictures(source: ImageInput, paths: Sequence[str], context: InputContext) -> Any:
    """Returns batches of images of any size to predict on, in order.

    The files are read while earlier ones are predicted. One that cannot be decoded ends it,
    or with `skip_corrupt` is left out.

    Args:
      source: size, channels and preprocessing.
      paths: the files.
      context: the batch size.

    Returns:
      A `tf.data.Dataset` of `{"image": [batch, size, size, channels] float32; "name":
      [batch] string, the path}`.
    """

    def picture(path: Any) -> Any:
        image = decode_picture(tf.io.read_file(path))
        seed = tf.zeros([2], tf.int64)
        return {
            "image": image_of_network(source, image, is_training=False, seed=seed),
            "name": path,
        }

    names = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
    found = names.map(plain(picture), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    if source.params.skip_corrupt:
        found = found.ignore_errors()
    return found.batch(context.batch_size)
