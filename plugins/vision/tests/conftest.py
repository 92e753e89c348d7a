"""Fixtures of several tests."""

import pytest
import tensorflow.compat.v1 as tf


@pytest.fixture
def take():
    """Returns the first elements of a data set, or all of them, as numpy values."""

    def take(dataset, count=None):
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

    return take
