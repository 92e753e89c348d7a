"""Reads the elements of a data set, for tests of inputs."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def read_elements(dataset: Any, count: int | None = None) -> list[Any]:
    """Returns the first elements of a data set in the default graph, as NumPy values.

    Args:
      dataset: a `tf.data.Dataset`.
      count: number of elements; None: all.

    Raises:
      tf.errors.OpError: an element cannot be computed.
    """
    dataset = dataset if count is None else dataset.take(count)
    iterator = tf.data.make_initializable_iterator(dataset)
    element, elements = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                elements.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return elements
