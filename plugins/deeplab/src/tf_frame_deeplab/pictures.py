"""Images of any size, read one by one to predict on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

_PARALLEL_CALLS = 2


def pictures(paths: Sequence[str]) -> Any:
    """Returns batches of one image each, in order, for their sizes differ.

    The files are read while earlier ones are predicted. Of an animation the first
    frame counts, of 16 bits the upper eight; transparency is left out.

    Args:
      paths: the files.

    Returns:
      A `tf.data.Dataset` of `{"image": [1, height, width, 3] float32, 0 to 255;
      "name": [1] string, the path}`.
    """

    def picture(path: Any) -> Any:
        image = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
        return {"image": tf.cast(tf.ensure_shape(image, [None, None, 3]), tf.float32), "name": path}

    read = tf.autograph.experimental.do_not_convert(picture)
    names = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
    return names.map(read, num_parallel_calls=_PARALLEL_CALLS, deterministic=True).batch(1)
