import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

VALUES = np.random.RandomState(0).normal(size=[2, 6, 4]).astype(np.float32)


def test_the_largest_of_each_group_of_neighbours_is_left():
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = tf.placeholder(tf.float32, [None, 6, 4])
        last, middle = layers.maxout(inputs, 2), layers.maxout(inputs, 3, axis=1)
        assert last.shape.as_list() == [None, 6, 2]
        assert middle.shape.as_list() == [None, 3, 4]
        last, middle = session.run([last, middle], {inputs: VALUES})
    np.testing.assert_array_equal(last, VALUES.reshape(2, 6, 2, 2).max(-1))
    np.testing.assert_array_equal(middle, VALUES.reshape(2, 3, 2, 4).max(2))


def test_features_that_do_not_divide_are_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"features\(6\) is not a multip"):
        layers.maxout(tf.zeros([1, 6]), 4)
