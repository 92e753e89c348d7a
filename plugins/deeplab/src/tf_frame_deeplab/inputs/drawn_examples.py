"""Reads image files with masks that are drawn when an example is read.

The objects are no part of the graph. The operation that draws has no state, so the position in the
data can be saved.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mask_examples import SPECS
from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.decoding import image_decoders
from tf_frame_vision.reading.examples import (
    example,
    first_readable,
    read_by_data_sets,
    unreadable,
)


def drawn_examples(
    root: str,
    names: Sequence[str],
    sources: Sequence[str],
    draw: Callable[[int], Any],
    order: Any,
    options: Any = None,
) -> Any:
    """Returns a data set of `(number, example)`.

    An example has `image`, `[height, width, 3]` uint8, `mask`, `[height, width, 2]` int32, class
    and object of each pixel, and `mask_name`.

    Args:
      root: the folder that the names begin at.
      names: the images.
      sources: the file of the annotations of each image.
      draw: from the index of an image to its mask.
      order: data set of `(number, index)`.
      options: see `tf_frame_vision.reading.decoding.image_decoders`.
    """
    folder = tf.constant(os.fsencode(root))
    image_name, source_name = arrays.Texts(names), arrays.Texts(sources)
    specs = {**SPECS, "mask": tf.TensorSpec([None, None, 2], tf.int32)}

    def read(index: Any) -> Any:
        path = tf.strings.join([folder, image_name[index]], separator="/")
        source = source_name[index]
        files = tf.data.Dataset.from_tensors((path, source, index))

        def decoded(decode: Callable[[Any], Any], path: Any, source: Any, index: Any) -> Any:
            image, problem = decode(tf.io.read_file(path))
            mask = tf.numpy_function(draw, [index], tf.int32, stateful=False)
            fields = {"image": image, "mask": mask, "mask_name": source}
            return example(specs, fields, path, problem)

        attempts = [functools.partial(decoded, decode) for decode in image_decoders(options)]
        why = tf.strings.join(["it cannot be read, or ", source, " has changed"])
        return first_readable(files, attempts, unreadable(specs, path, why))

    return read_by_data_sets(order, read)
