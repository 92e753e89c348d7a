import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import layers


def row(values):
    return np.array(values, np.float32).reshape(1, 1, -1, 1)


def resized(values, width, **settings):
    with tf.Graph().as_default(), tf.Session() as session:
        result = layers.resize_bilinear(tf.constant(row(values)), [1, width], **settings)
        return session.run(result).ravel()


def test_edges_coincide_by_default():
    np.testing.assert_allclose(resized([0, 4], 4), [0, 1, 3, 4])


def test_corner_centres_coincide_when_aligned():
    np.testing.assert_allclose(resized([0, 4], 5, align_corners=True), [0, 1, 2, 3, 4])


def test_same_size_adds_no_op():
    with tf.Graph().as_default():
        images = tf.zeros([1, 3, 4, 1])
        assert layers.resize_bilinear(images, [3, 4]) is images


def test_size_known_and_unknown():
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 1])
        assert layers.spatial_size(tf.zeros([2, 3, 4, 1])) == [3, 4]
        size = layers.spatial_size(images)
        doubled = layers.resize_bilinear(images, size * 2)
        feed = {images: np.ones([2, 3, 4, 1])}
        assert session.run(size, feed).tolist() == [3, 4]
        assert session.run(doubled, feed).shape == (2, 6, 8, 1)
