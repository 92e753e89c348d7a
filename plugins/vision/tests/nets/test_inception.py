import functools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets import inception

# Features before the logits, and convolutions with batch norm before them.
NETWORKS = {
    "inception_v1": (1024, 57),
    "inception_v2": (1024, 68),
    "inception_v3": (2048, 94),
    "inception_v4": (1536, 149),
    "inception_resnet_v2": (1536, 204),
}
# The others belong to `tox -e slow`.
BY_DEFAULT = ("inception_v1", "inception_v3")
MARKED = [
    pytest.param(name, marks=() if name in BY_DEFAULT else pytest.mark.slow) for name in NETWORKS
]


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKED)
def test_without_classes_the_features_come_back_in_either_mode(name, monkeypatch):
    modes = []

    @layers.add_arg_scope
    def batch_norm(inputs, is_training=None, **params):
        modes.append(is_training)
        return inputs

    # The real one would take most of the time, and has tests of its own.
    monkeypatch.setattr(layers, "batch_norm", batch_norm)
    features, convolutions = NETWORKS[name]
    network, arg_scope = getattr(inception, name), getattr(inception, f"{name}_arg_scope")
    with tf.Graph().as_default(), layers.arg_scope(arg_scope()):
        for num_classes, is_training in ((None, True), (0, False)):
            modes.clear()
            images = tf.zeros([2, 75, 75, 3])
            net, end_points = network(images, num_classes, is_training, reuse=tf.AUTO_REUSE)
            assert net.shape == [2, 1, 1, features]
            assert net is list(end_points.values())[-1]
            assert not {"AuxLogits", "Logits", "Predictions"} & set(end_points)
            assert modes == [is_training] * convolutions
        assert not tf.global_variables(".*/(Aux)?Logits/")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width", "shapes", "cut_kernel"),
    [
        (
            "inception_v4",
            107,
            {"Mixed_6h": [2, 3, 5, 1024], "Mixed_7d": [2, 1, 2, 1536]},
            "InceptionV4/AuxLogits/Conv2d_2a/weights",
        ),
        (
            "inception_resnet_v2",
            90,
            {"Conv2d_7b_1x1": [2, 1, 1, 1536]},
            "InceptionResnetV2/AuxLogits/Conv2d_2a_5x5/weights",
        ),
    ],
)
def test_images_of_any_size_from_75_are_taken(
    name, width, shapes, cut_kernel, slim_variables, variables_in
):
    network = functools.partial(getattr(inception, name), num_classes=5, reuse=tf.AUTO_REUSE)
    with tf.Graph().as_default() as graph:
        known, end_points = network(tf.zeros([2, 75, width, 3]))
        assert known.shape == end_points["AuxLogits"].shape == [2, 5]
        assert {point: end_points[point].shape.as_list() for point in shapes} == shapes
        # There are five classes, and one kernel is as small as its map.
        expected = [
            (variable, [5 if number == 1001 else number for number in shape])
            for variable, shape in slim_variables(name)
            if variable.endswith("/weights")
        ]
        weights = [v for v in variables_in(graph) if v[0].endswith("/weights")]
        assert [variable for variable, _ in weights] == [variable for variable, _ in expected]
        different = [v for v, e in zip(weights, expected, strict=True) if v != e]
        assert [variable for variable, _ in different] == [cut_kernel]
        fed = tf.placeholder(tf.float32, [None, None, None, 3])
        logits, end_points = network(fed, create_aux_logits=False)
        assert logits.shape.as_list() == [None, 5]
        assert end_points["global_pool"].op.type == "Mean"
        assert "AuxLogits" not in end_points
        with pytest.raises(ConfigError, match=f"74 x 90 .* at {list(shapes)[-1]}; it takes 75 x"):
            network(tf.zeros([2, 74, 90, 3]))


def test_the_namespace_has_slims_names():
    ends = ("", "_base", "_arg_scope")
    assert set(inception.__all__) == {f"{name}{end}" for name in NETWORKS for end in ends}
    assert all(callable(getattr(inception, name)) for name in inception.__all__)
