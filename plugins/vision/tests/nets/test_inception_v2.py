import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_vision.nets import inception_v2

# Of slim's own test, without logits: inception_v2_test.py in tensorflow/models, research/slim/nets.
BASE_PARAMETERS = 10_173_112
# Two clones are left to `tox -e slow`; inception_v1 has them always.
SLOW = [pytest.mark.slow, pytest.mark.process]

END_POINTS = {
    "Conv2d_1a_7x7": (112, 64),
    "MaxPool_2a_3x3": (56, 64),
    "Conv2d_2b_1x1": (56, 64),
    "Conv2d_2c_3x3": (56, 192),
    "MaxPool_3a_3x3": (28, 192),
    "Mixed_3b": (28, 256),
    "Mixed_3c": (28, 320),
    **{f"Mixed_4{letter}": (14, 576) for letter in "abcde"},
    **{f"Mixed_5{letter}": (7, 1024) for letter in "abc"},
}
SMALL = {"depth_multiplier": 0.1, "min_depth": 8}


def build(images, num_classes=5, **arguments):
    arguments = {"reuse": tf.AUTO_REUSE, **SMALL, **arguments}
    return inception_v2.inception_v2(images, num_classes, **arguments)


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=SLOW)])
def clones(build_inception, request):
    return build_inception("inception_v2", 224, request.param)


@pytest.mark.slow
def test_variables_are_slims_and_shared_by_clones(
    clones, slim_variables, variables_in, count_parameters
):
    variables = variables_in(clones[0])
    assert variables == slim_variables("inception_v2")
    base = [(name, shape) for name, shape in variables if "/Logits/" not in name]
    assert count_parameters(base) == BASE_PARAMETERS


@pytest.mark.slow
def test_penalties_and_end_points_are_slims(check_end_points, clones):
    graph, _ = clones
    # The arg scope says nothing of the separable convolution, which has no batch norm either.
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 69
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * len(clones[1]) * 68
    shapes = {"AvgPool_1a": [2, 1, 1, 1024], "Logits": [2, 1001], "Predictions": [2, 1001]}
    names = {
        "AvgPool_1a": "InceptionV2/Logits/AvgPool_1a_7x7/AvgPool",
        "Logits": "InceptionV2/Logits/SpatialSqueeze",
        "Predictions": "InceptionV2/Predictions/Reshape_1",
    }
    check_end_points(clones[1], END_POINTS, shapes, names)


@pytest.mark.slow
def test_images_of_any_size_and_batch_are_taken():
    """With unknown sizes, and cut to the map where they are small, values stay the same."""
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [None, None, None, 3])
        unknown, _ = build(fed, is_training=False, global_pool=True)
        known = tf.placeholder(tf.float32, [2, 75, 40, 3])
        cut, end_points = build(known, is_training=False)
        assert end_points["AvgPool_1a"].op.name.endswith("AvgPool_1a_3x2/AvgPool")
        for name, (_, depth) in END_POINTS.items():
            assert end_points[name].shape[3] == _scaled(name, depth)
        images = np.random.RandomState(0).uniform(-1, 1, size=[2, 75, 40, 3])
        with initialized_session() as session:
            feeds = {fed: images, known: images}
            logits, from_cut = session.run([unknown, cut], feeds)
    np.testing.assert_allclose(from_cut, logits, rtol=1e-4, atol=1e-6)
    assert np.abs(logits).max() > 0


def _scaled(name, depth):
    """A tenth and at least 8, for each of the branches that are joined."""
    sums = {
        "Mixed_3b": 8 + 8 + 9 + 8,
        "Mixed_3c": 8 + 9 + 9 + 8,
        "Mixed_4a": 16 + 9 + 34,
        "Mixed_4b": 22 + 9 + 12 + 12,
        "Mixed_4c": 19 + 12 + 12 + 12,
        "Mixed_4d": 16 + 16 + 16 + 9,
        "Mixed_4e": 9 + 19 + 19 + 9,
        "Mixed_5a": 19 + 25 + 56,
        "Mixed_5b": 35 + 32 + 22 + 12,
        "Mixed_5c": 35 + 32 + 22 + 12,
    }
    return sums.get(name) or max(depth // 10, 8)


@pytest.mark.slow
def test_the_first_layer_may_be_a_full_convolution_or_missing():
    with tf.Graph().as_default():
        _, end_points = inception_v2.inception_v2_base(
            tf.zeros([2, 3, 224, 224]), "Mixed_4a", use_separable_conv=False, data_format="NCHW"
        )
        assert list(end_points) == list(END_POINTS)[:8]
        for name, tensor in end_points.items():
            size, depth = END_POINTS[name]
            assert tensor.shape == [2, depth, size, size]
        root = tf.global_variables("InceptionV2/Conv2d_1a_7x7")
        shapes = [(v.op.name.rpartition("/")[2], v.shape.as_list()) for v in root]
        assert shapes == [("weights", [7, 7, 3, 64]), ("biases", [64])]
    with tf.Graph().as_default():
        maps = tf.zeros([2, 28, 28, 192])
        net, end_points = inception_v2.inception_v2_base(maps, "Mixed_4a", include_root_block=False)
        assert list(end_points) == ["Mixed_3b", "Mixed_3c", "Mixed_4a"]
        assert net is end_points["Mixed_4a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data_format": "HWCN"}, "^data_format must be either NHWC or NCHW.$"),
        ({"data_format": "NCHW"}, "^separable convolution only supports NHWC layout. NCHW data "),
        ({"final_endpoint": "Mixed_6a"}, "^Unknown final endpoint Mixed_6a"),
        ({"depth_multiplier": 0}, "^depth_multiplier is not greater than zero.$"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        inception_v2.inception_v2_base(tf.zeros([2, 64, 64, 3]), **arguments)
