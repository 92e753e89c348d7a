import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_vision.nets import inception_v1

# Of slim's own test, without logits: inception_v1_test.py in tensorflow/models, research/slim/nets.
BASE_PARAMETERS = 5_607_184
# Of googlenet in https://pytorch.org/vision/stable/models.html: the same network, with gamma,
# 1000 classes and without auxiliary logits; moving averages not counted.
TRAINED_PARAMETERS = 6_624_904

END_POINTS = {
    "Conv2d_1a_7x7": (112, 64),
    "MaxPool_2a_3x3": (56, 64),
    "Conv2d_2b_1x1": (56, 64),
    "Conv2d_2c_3x3": (56, 192),
    "MaxPool_3a_3x3": (28, 192),
    "Mixed_3b": (28, 256),
    "Mixed_3c": (28, 480),
    "MaxPool_4a_3x3": (14, 480),
    "Mixed_4b": (14, 512),
    "Mixed_4c": (14, 512),
    "Mixed_4d": (14, 512),
    "Mixed_4e": (14, 528),
    "Mixed_4f": (14, 832),
    "MaxPool_5a_2x2": (7, 832),
    "Mixed_5b": (7, 832),
    "Mixed_5c": (7, 1024),
}


def build(images, num_classes=5, **arguments):
    return inception_v1.inception_v1(images, num_classes, reuse=tf.AUTO_REUSE, **arguments)


@pytest.fixture(scope="module")
def clones(build_inception):
    return build_inception("inception_v1", 224, 2)


@pytest.mark.slow
def test_variables_are_slims_and_shared_by_clones(
    clones, slim_variables, variables_in, count_parameters
):
    graph, _ = clones
    variables = variables_in(graph)
    assert variables == slim_variables("inception_v1")
    base = [(name, shape) for name, shape in variables if "/Logits/" not in name]
    assert count_parameters(base) == BASE_PARAMETERS
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    gamma = count_parameters([v for v in trained if v[0].endswith("beta")])
    assert count_parameters(trained) + gamma - (1024 + 1) == TRAINED_PARAMETERS


@pytest.mark.slow
def test_penalties_and_end_points_are_slims(check_end_points, clones):
    graph, _ = clones
    # 57 convolutions, and the logits, which are not normalised.
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 58
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * 2 * 57
    shapes = {"AvgPool_0a_7x7": [2, 1, 1, 1024], "Logits": [2, 1001], "Predictions": [2, 1001]}
    names = {
        "Mixed_5c": "InceptionV1/InceptionV1/Mixed_5c/concat",
        "Logits": "InceptionV1/Logits/SpatialSqueeze",
        "Predictions": "InceptionV1/Logits/Predictions/Reshape_1",
    }
    check_end_points(clones[1], END_POINTS, shapes, names)


@pytest.mark.slow
def test_images_of_any_size_and_logits_that_keep_their_positions():
    """With unknown sizes, and cut to the map where they are small, values stay the same."""
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [None, None, None, 3])
        unknown, end_points = build(fed, is_training=False, global_pool=True)
        assert unknown.shape.as_list() == [None, 5]
        assert "AvgPool_0a_7x7" not in end_points
        known = tf.placeholder(tf.float32, [2, 75, 40, 3])
        cut, end_points = build(known, is_training=False)
        assert end_points["AvgPool_0a_7x7"].shape == [2, 1, 1, 1024]
        images = np.random.RandomState(0).uniform(-1, 1, size=[2, 75, 40, 3])
        fetches = unknown, cut, tf.shape(end_points["Mixed_5c"])
        with initialized_session() as session:
            logits, from_cut, shape = session.run(fetches, {fed: images, known: images})
    np.testing.assert_allclose(from_cut, logits, rtol=1e-4, atol=1e-9)
    assert np.abs(logits).max() > 0
    assert list(shape) == [2, 3, 2, 1024]
    with tf.Graph().as_default():
        logits, _ = build(tf.zeros([2, 256, 224, 3]), spatial_squeeze=False)
    assert logits.shape == [2, 2, 1, 5]


def test_modules_alone_and_ends_that_are_asked_for():
    with tf.Graph().as_default():
        maps = tf.zeros([2, 28, 28, 192])
        _, end_points = inception_v1.inception_v1_base(maps, "Mixed_3c", include_root_block=False)
        assert list(end_points) == ["Mixed_3b", "Mixed_3c"]
        with pytest.raises(ValueError, match="Unknown final endpoint MaxPool_3a_3x3"):
            inception_v1.inception_v1_base(maps, "MaxPool_3a_3x3", include_root_block=False)
    with tf.Graph().as_default():
        net, end_points = inception_v1.inception_v1_base(tf.zeros([2, 1, 1, 3]), "Mixed_3b")
    assert net is end_points["Mixed_3b"]
    assert list(end_points) == list(END_POINTS)[:6]
    with tf.Graph().as_default(), tf.Session() as session:
        inception_v1.inception_v1_base(tf.zeros([2, 9, 9, 3]), "Conv2d_2c_3x3")
        weights = tf.global_variables("InceptionV1/Conv2d_2c_3x3/weights")[0]
        session.run(weights.initializer)
        assert session.run(weights).std() == pytest.approx(0.8796 * 0.01, rel=0.02)
