import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.errors import ConfigError
from tf_frame_vision.nets import inception_v3

# Of slim's own test, without logits: inception_v3_test.py in tensorflow/models, research/slim/nets.
BASE_PARAMETERS = 21_802_784
# Of keras.applications.InceptionV3 with 1000 classes: without auxiliary logits.
KERAS_PARAMETERS = 23_851_784
# Of inception_v3 in https://pytorch.org/vision/stable/models.html: with gamma, 1000 classes and
# auxiliary logits; moving averages not counted.
TRAINED_PARAMETERS = 27_161_264
# Two clones are left to `tox -e slow`; inception_v1 has them always.
SLOW = [pytest.mark.slow, pytest.mark.process]

END_POINTS = {
    "Conv2d_1a_3x3": (149, 32),
    "Conv2d_2a_3x3": (147, 32),
    "Conv2d_2b_3x3": (147, 64),
    "MaxPool_3a_3x3": (73, 64),
    "Conv2d_3b_1x1": (73, 80),
    "Conv2d_4a_3x3": (71, 192),
    "MaxPool_5a_3x3": (35, 192),
    "Mixed_5b": (35, 256),
    **{f"Mixed_5{letter}": (35, 288) for letter in "cd"},
    **{f"Mixed_6{letter}": (17, 768) for letter in "abcde"},
    "Mixed_7a": (8, 1280),
    **{f"Mixed_7{letter}": (8, 2048) for letter in "bc"},
}
SMALL = {"depth_multiplier": 0.05, "min_depth": 4}


def build(images, num_classes=5, **arguments):
    arguments = {"reuse": tf.AUTO_REUSE, **SMALL, **arguments}
    return inception_v3.inception_v3(images, num_classes, **arguments)


@pytest.fixture(scope="module")
def graph():
    """One for several tests: making the variables is what takes time."""
    return tf.Graph()


@pytest.mark.slow
@pytest.mark.parametrize("num_clones", [1, pytest.param(2, marks=SLOW)])
def test_variables_penalties_and_end_points_are_slims(
    check_end_points, build_inception, num_clones, slim_variables, variables_in, count_parameters
):
    graph, clones = build_inception("inception_v3", 299, num_clones)
    variables = variables_in(graph)
    assert variables == slim_variables("inception_v3")
    without_aux = [variable for variable in variables if "/AuxLogits/" not in variable[0]]
    base = [variable for variable in without_aux if "/Logits/" not in variable[0]]
    assert count_parameters(base) == BASE_PARAMETERS
    assert count_parameters(without_aux) - (2048 + 1) == KERAS_PARAMETERS
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    gamma = count_parameters([v for v in trained if v[0].endswith("beta")])
    of_one_class = (2048 + 1) + (768 + 1)
    assert count_parameters(trained) + gamma - of_one_class == TRAINED_PARAMETERS
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 98
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * num_clones * 96
    # Auxiliary logits begin small.
    name = "InceptionV3/AuxLogits/{}/weights/Initializer/truncated_normal/stddev:0"
    found = [
        float(tf.get_static_value(graph.get_tensor_by_name(name.format(layer))))
        for layer in ("Conv2d_2a_5x5", "Conv2d_2b_1x1")
    ]
    assert found == pytest.approx([0.01, 0.001])
    shapes = {"AuxLogits": [2, 1001], "AvgPool_1a": [2, 1, 1, 2048]}
    shapes |= {"PreLogits": [2, 1, 1, 2048], "Logits": [2, 1001], "Predictions": [2, 1001]}
    names = {
        "AuxLogits": "InceptionV3/AuxLogits/SpatialSqueeze",
        "AvgPool_1a": "InceptionV3/Logits/AvgPool_1a_8x8/AvgPool",
        "Logits": "InceptionV3/Logits/SpatialSqueeze",
        "Predictions": "InceptionV3/Predictions/Reshape_1",
    }
    check_end_points(clones, END_POINTS, shapes, names)


@pytest.mark.slow
def test_images_of_any_size_from_75_are_taken(graph):
    """With unknown sizes, and cut to the map where they are small, values stay the same."""
    arguments = {"is_training": False, "create_aux_logits": False}
    with graph.as_default():
        fed = tf.placeholder(tf.float32, [None, None, None, 3])
        unknown, end_points = build(fed, global_pool=True, **arguments)
        assert end_points["global_pool"].op.name.endswith("/Logits/GlobalPool")
        known = tf.placeholder(tf.float32, [2, 75, 90, 3])
        cut, end_points = build(known, **arguments)
        assert "AuxLogits" not in end_points
        assert end_points["PreLogits"].op.type == "Identity"  # Nothing is dropped.
        images = np.random.RandomState(0).uniform(-1, 1, size=[2, 75, 90, 3])
        with initialized_session() as session:
            logits, from_cut = session.run([unknown, cut], {fed: images, known: images})
        with pytest.raises(ConfigError, match="74 x 90 pixels.* at Mixed_7c; it takes 75 x 75"):
            build(tf.zeros([2, 74, 90, 3]))
    np.testing.assert_allclose(from_cut, logits, rtol=1e-4, atol=1e-7)
    assert np.abs(logits).max() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "pool", "kernel"),
    [
        pytest.param(75, 3, 1, marks=pytest.mark.slow),
        pytest.param(107, 5, 1, marks=pytest.mark.slow),
        pytest.param(203, 5, 3, marks=pytest.mark.slow),
        (299, 5, 5),
    ],
)
def test_kernels_of_auxiliary_logits_are_cut_to_the_map(graph, size, pool, kernel):
    with graph.as_default():
        _, end_points = build(tf.zeros([2, size, size, 3]))
        assert end_points["AuxLogits"].shape == [2, 5]
        scope = end_points["AuxLogits"].op.name.rpartition("/")[0]
        window = graph.get_operation_by_name(f"{scope}/AvgPool_1a_5x5/AvgPool")
        assert window.get_attr("ksize") == [1, pool, pool, 1]
        weights = f"InceptionV3/AuxLogits/Conv2d_2a_{kernel}x{kernel}/weights"
        shapes = [variable.shape.as_list() for variable in tf.global_variables(weights)]
        # A twentieth of 128 and of 768 channels.
        assert shapes == [[kernel, kernel, 6, 38]]


@pytest.mark.slow
def test_logits_that_are_not_squeezed_keep_their_positions(graph):
    with graph.as_default():
        images = tf.zeros([2, 299, 427, 3])
        logits, end_points = build(images, spatial_squeeze=False)
        # Windows of 8 x 8 in steps of 2 over a map of 8 x 12, and of 5 x 5 over 5 x 7.
        assert logits.shape == [2, 1, 3, 5]
        assert end_points["AuxLogits"].shape == [2, 1, 3, 5]
        with pytest.raises(ConfigError, match="AuxLogits.*map of 1 x 3.*create_aux_logits=False"):
            build(images)


@pytest.mark.parametrize("function", [inception_v3.inception_v3, inception_v3.inception_v3_base])
def test_a_multiplier_of_nothing_is_refused(function):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="^depth_multiplier is not grea"):
        function(tf.zeros([2, 75, 75, 3]), depth_multiplier=0)


@pytest.mark.slow
def test_a_network_ends_where_it_is_told_to():
    with tf.Graph().as_default():
        images = tf.zeros([2, 75, 75, 3])
        net, end_points = inception_v3.inception_v3_base(images, "Mixed_5d", scope="Mine", **SMALL)
        assert net is end_points["Mixed_5d"]
        assert list(end_points) == list(END_POINTS)[:10]
        assert net.op.name == "Mine/Mixed_5d/concat"
        with pytest.raises(ValueError, match="Unknown final endpoint Mixed_7d"):
            inception_v3.inception_v3_base(images, "Mixed_7d")
