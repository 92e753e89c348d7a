import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.mark.parametrize(
    ("places", "resized"),
    [
        ({}, [0, 1, 3, 4]),
        ({"align_corners": True}, [0, 1, 2, 3, 4]),
        ({"half_pixel_centers": False}, [0, 2, 4, 4]),
    ],
)
def test_edges_coincide_or_the_centres_of_corners_or_upper_left_corners(evaluate, places, resized):
    images = tf.reshape([0.0, 4.0], [1, 1, 2, 1])
    size = [1, len(resized)]
    (values,) = evaluate(layers.resize_bilinear(images, size, **places))
    np.testing.assert_allclose(values.ravel(), resized)
    assert layers.resize_bilinear(images, [1, 2], **places) is images


def test_size_known_and_unknown():
    with tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 1])
        assert layers.spatial_size(tf.zeros([2, 3, 4, 1])) == [3, 4]
        size = layers.spatial_size(images)
        doubled = layers.resize_bilinear(images, size * 2)
        feed = {images: np.ones([2, 3, 4, 1])}
        assert session.run(size, feed).tolist() == [3, 4]
        assert session.run(doubled, feed).shape == (2, 6, 8, 1)


FEATURES = np.random.RandomState(0).normal(size=[2, 3, 4, 2]).astype(np.float32)


def keypoints(features, temperature):
    weights = np.exp(features / temperature)
    weights /= weights.sum((1, 2), keepdims=True)
    down = (weights * np.linspace(-1, 1, 3)[:, None, None]).sum((1, 2))
    right = (weights * np.linspace(-1, 1, 4)[:, None]).sum((1, 2))
    return np.stack([down, right], axis=-1).reshape(2, 4)


def test_positions_equal_numpy_whether_the_channels_are_last_or_first(evaluate):
    last = layers.spatial_softmax(FEATURES)
    first = layers.spatial_softmax(
        FEATURES.transpose(0, 3, 1, 2), temperature=0.5, data_format="NCHW", trainable=False
    )
    names = ["spatial_softmax/temperature", "spatial_softmax_1/temperature"]
    assert [v.op.name for v in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)] == names
    assert [v.op.name for v in tf.trainable_variables()] == names[:1]
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, keypoints(FEATURES, 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(first, keypoints(FEATURES, 0.5), rtol=1e-4, atol=1e-6)


def test_the_temperature_has_the_gradient_of_finite_differences(evaluate, differences):
    layers.spatial_softmax(FEATURES, name="where")
    with tf.variable_scope("", reuse=True):
        outputs = layers.spatial_softmax(FEATURES, name="where")
    gradient = tf.gradients(tf.reduce_sum(outputs * [1.0, 2.0, 3.0, 4.0]), tf.trainable_variables())
    numeric = differences(
        lambda t: np.sum(keypoints(FEATURES.astype(np.float64), t) * [1, 2, 3, 4]), np.array(1.0)
    )
    np.testing.assert_allclose(evaluate(*gradient)[0], numeric, rtol=1e-3)


def test_what_has_no_channels_is_refused():
    with pytest.raises(ValueError, match="num_channels dimension"):
        layers.spatial_softmax(tf.placeholder(tf.float32, [1, 2, 3, None]))
    with pytest.raises(ValueError, match="data_format has to be either"):
        layers.spatial_softmax(FEATURES, data_format="NWHC")
