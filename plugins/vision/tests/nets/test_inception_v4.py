import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets import inception_v4

# Of inception_v4 in the documentation of timm, https://huggingface.co/timm/inception_v4.tf_in1k:
# 42.7 million. With gamma, 1000 classes and without auxiliary logits.
TRAINED_PARAMETERS = 42_700_000
# Clones are left to `tox -e slow`; inception_v1 has them always.
SLOW = [pytest.mark.slow, pytest.mark.process]

END_POINTS = {
    "Conv2d_1a_3x3": (149, 32),
    "Conv2d_2a_3x3": (147, 32),
    "Conv2d_2b_3x3": (147, 64),
    "Mixed_3a": (73, 160),
    "Mixed_4a": (71, 192),
    **{f"Mixed_5{letter}": (35, 384) for letter in "abcde"},
    **{f"Mixed_6{letter}": (17, 1024) for letter in "abcdefgh"},
    **{f"Mixed_7{letter}": (8, 1536) for letter in "abcd"},
}


def build(images, num_classes=5, **arguments):
    return inception_v4.inception_v4(images, num_classes, reuse=tf.AUTO_REUSE, **arguments)


@pytest.fixture(scope="module", params=[pytest.param(number, marks=SLOW) for number in (1, 2)])
def clones(build_clones, request):
    def network():
        with layers.arg_scope(inception_v4.inception_v4_arg_scope()):
            return inception_v4.inception_v4(tf.zeros([2, 299, 299, 3]))

    return build_clones(network, request.param)


@pytest.fixture(scope="module")
def graph():
    """One for several tests: making the variables is what takes time."""
    return tf.Graph()


@pytest.mark.process
def test_variables_penalties_and_end_points_are_slims(
    clones, slim_variables, variables_in, count_parameters
):
    graph, _ = clones
    assert variables_in(graph) == slim_variables("inception_v4")
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    without_aux = [variable for variable in trained if "/AuxLogits/" not in variable[0]]
    gamma = count_parameters([v for v in without_aux if v[0].endswith("beta")])
    count = count_parameters(without_aux) + gamma - (1536 + 1)
    assert round(count, -5) == TRAINED_PARAMETERS
    graph, _ = clones
    # 149 convolutions and two of the auxiliary logits are normalised, two dense layers are not.
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 149 + 2 + 2
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * len(clones[1]) * (149 + 2)
    # End points are slims.
    expected = {name: [2, size, size, depth] for name, (size, depth) in END_POINTS.items()}
    expected |= {"AuxLogits": [2, 1001], "global_pool": [2, 1, 1, 1536]}
    expected |= {"PreLogitsFlatten": [2, 1536], "Logits": [2, 1001], "Predictions": [2, 1001]}
    for end_points in clones[1]:
        shapes = {name: tensor.shape.as_list() for name, tensor in end_points.items()}
        assert shapes == expected
        assert list(shapes) == list(expected)
    names = {name: tensor.op.name for name, tensor in clones[1][0].items()}
    scope = "clone_0/" if len(clones[1]) > 1 else ""
    assert names["AuxLogits"] == f"{scope}InceptionV4/AuxLogits/Aux_logits/BiasAdd"
    assert names["global_pool"] == f"{scope}InceptionV4/Logits/AvgPool_1a/AvgPool"
    assert names["Logits"] == f"{scope}InceptionV4/Logits/Logits/BiasAdd"
    assert names["Predictions"] == f"{scope}InceptionV4/Logits/Predictions"


@pytest.mark.slow
def test_images_of_any_size_from_75_are_taken(graph, slim_variables, variables_in):
    with graph.as_default():
        known, end_points = build(tf.zeros([2, 75, 107, 3]))
        assert known.shape == end_points["AuxLogits"].shape == [2, 5]
        assert end_points["Mixed_6h"].shape == [2, 3, 5, 1024]
        assert end_points["Mixed_7d"].shape == [2, 1, 2, 1536]
        depths = {name: end_points[name].shape[3] for name in END_POINTS}
        assert depths == {name: depth for name, (_, depth) in END_POINTS.items()}
        # There are five classes, and one kernel is as small as its map.
        expected = {
            name: [5 if n == 1001 else n for n in shape]
            for name, shape in slim_variables("inception_v4")
            if name.endswith("/weights")
        }
        found = {v: shape for v, shape in variables_in(graph) if v.endswith("/weights")}
        assert list(found) == list(expected)
        differ = [name for name in found if found[name] != expected[name]]
        assert differ == ["InceptionV4/AuxLogits/Conv2d_2a/weights"]
        fed = tf.placeholder(tf.float32, [None, None, None, 3])
        logits, end_points = build(fed, create_aux_logits=False)
        assert logits.shape.as_list() == [None, 5]
        assert end_points["global_pool"].op.type == "Mean"
        assert "AuxLogits" not in end_points
        with pytest.raises(ConfigError, match="74 x 90 pixels.* at Mixed_7d; it takes 75 x 75"):
            build(tf.zeros([2, 74, 90, 3]))


def test_a_network_ends_where_it_is_told_to():
    with tf.Graph().as_default():
        net, end_points = inception_v4.inception_v4_base(tf.zeros([2, 75, 75, 3]), "Mixed_5b")
        assert net is end_points["Mixed_5b"]
        assert list(end_points) == list(END_POINTS)[:7]
        with pytest.raises(ValueError, match="Unknown final endpoint Mixed_7e"):
            inception_v4.inception_v4_base(tf.zeros([2, 75, 75, 3]), "Mixed_7e")


@pytest.mark.parametrize(
    ("name", "size", "channels"),
    [
        ("inception_a", 9, 4 * 96),
        ("reduction_a", 4, 384 + 256 + 2),
        ("inception_b", 9, 384 + 256 + 256 + 128),
        ("reduction_b", 4, 192 + 320 + 2),
        ("inception_c", 9, 256 + 2 * 256 + 2 * 256 + 256),
    ],
)
def test_modules_can_be_built_alone(name, size, channels):
    block = getattr(inception_v4, f"block_{name}")
    with tf.Graph().as_default():
        maps = tf.zeros([1, 9, 9, 2])
        assert block(maps).shape == [1, size, size, channels]
        variables = tf.global_variables()
        default = "Block" + name.title().replace("_", "")
        assert {v.op.name.partition("/")[0] for v in variables} == {default}
        block(maps, default, reuse=True)
        assert tf.global_variables() == variables
        block(maps, scope="Mine")
        assert len(tf.global_variables("Mine/")) == len(variables)
