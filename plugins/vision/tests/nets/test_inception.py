import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
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


def test_the_namespace_has_slims_names():
    ends = ("", "_base", "_arg_scope")
    assert set(inception.__all__) == {f"{name}{end}" for name in NETWORKS for end in ends}
    assert all(callable(getattr(inception, name)) for name in inception.__all__)
