import pytest
import tensorflow.compat.v1 as tf

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


@pytest.mark.parametrize("num_clones", [pytest.param(number, marks=SLOW) for number in (1, 2)])
def test_variables_penalties_and_end_points_are_slims(
    check_end_points, build_inception, num_clones, slim_variables, variables_in, count_parameters
):
    graph, clones = build_inception("inception_v4", 299, num_clones)
    assert variables_in(graph) == slim_variables("inception_v4")
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    without_aux = [variable for variable in trained if "/AuxLogits/" not in variable[0]]
    gamma = count_parameters([v for v in without_aux if v[0].endswith("beta")])
    count = count_parameters(without_aux) + gamma - (1536 + 1)
    assert round(count, -5) == TRAINED_PARAMETERS
    # 149 convolutions and two of the auxiliary logits are normalised, two dense layers are not.
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 149 + 2 + 2
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * num_clones * (149 + 2)
    shapes = {"AuxLogits": [2, 1001], "global_pool": [2, 1, 1, 1536]}
    shapes |= {"PreLogitsFlatten": [2, 1536], "Logits": [2, 1001], "Predictions": [2, 1001]}
    names = {
        "AuxLogits": "InceptionV4/AuxLogits/Aux_logits/BiasAdd",
        "global_pool": "InceptionV4/Logits/AvgPool_1a/AvgPool",
        "Logits": "InceptionV4/Logits/Logits/BiasAdd",
        "Predictions": "InceptionV4/Logits/Predictions",
    }
    check_end_points(clones, END_POINTS, shapes, names)


def test_a_network_ends_where_it_is_told_to():
    with tf.Graph().as_default():
        net, end_points = inception_v4.inception_v4_base(tf.zeros([2, 75, 75, 3]), "Mixed_5b")
        assert net is end_points["Mixed_5b"]
        assert list(end_points) == list(END_POINTS)[:7]
        with pytest.raises(ValueError, match="Unknown final endpoint Mixed_7e"):
            inception_v4.inception_v4_base(tf.zeros([2, 75, 75, 3]), "Mixed_7e")


@pytest.mark.slow
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
