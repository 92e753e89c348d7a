import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets.cifarnet import cifarnet, cifarnet_arg_scope


def build(num_classes=10, size=32, **arguments):
    with layers.arg_scope(cifarnet_arg_scope()):
        return cifarnet(tf.zeros([2, size, size, 3]), num_classes, **arguments)


def test_variables_end_points_penalties_and_initial_values_are_slims(
    slim_variables, variables_in, count_parameters, build_clones
):
    with tf.Graph().as_default() as graph:
        _, end_points = build(is_training=True)
    assert variables_in(graph) == slim_variables("cifarnet")
    # By hand: two poolings leave 8 x 8 pixels of 64 channels before fc3.
    convolutions = (5 * 5 * 3 + 1) * 64 + (5 * 5 * 64 + 1) * 64
    dense = (8 * 8 * 64 + 1) * 384 + (384 + 1) * 192 + (192 + 1) * 10
    assert count_parameters(variables_in(graph)) == convolutions + dense == 1_756_426
    assert {name: point.shape.as_list() for name, point in end_points.items()} == {
        "conv1": [2, 32, 32, 64],
        "pool1": [2, 16, 16, 64],
        "conv2": [2, 16, 16, 64],
        "pool2": [2, 8, 8, 64],
        "Flatten": [2, 4096],
        "fc3": [2, 384],
        "fc4": [2, 192],
        "Logits": [2, 10],
        "Predictions": [2, 10],
    }
    assert cifarnet.default_image_size == 32
    penalties = graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [penalty.op.name.split("/")[1] for penalty in penalties] == ["fc3", "fc4"]
    # Local normalisation stands behind pool1 and before pool2.
    first, second = (graph.get_operation_by_name(f"CifarNet/norm{index}") for index in (1, 2))
    assert first.inputs[0] is end_points["pool1"]
    assert second.inputs[0] is end_points["conv2"]
    assert end_points["pool2"].op.inputs[0] is second.outputs[0]
    for op in (first, second):
        assert op.type == "LRN"
        settings = [op.get_attr(name) for name in ("depth_radius", "bias", "alpha", "beta")]
        assert settings == pytest.approx([4, 1.0, 0.001 / 9, 0.75])
    # Deviation before the cut at two deviations, and value of the biases.
    expected = {"conv2": (0.05, 0.0), "fc3": (0.04, 0.1), "logits": (1 / 192, 0.0)}
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer(graph.get_collection("variables")))
        for layer, (deviation, bias) in expected.items():
            names = [f"CifarNet/{layer}/{kind}" for kind in ("weights", "biases")]
            weights, biases = session.run([f"{name}/Read/ReadVariableOp:0" for name in names])
            assert weights.std() == pytest.approx(0.8796 * deviation, rel=0.05)
            assert biases == pytest.approx(bias)
    graph, _ = build_clones(lambda: build(is_training=True))
    assert variables_in(graph) == slim_variables("cifarnet")


def test_images_of_which_nothing_would_be_left_are_refused():
    with tf.Graph().as_default():
        build(size=4)
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="3 x 3 pixels.* 4 x 4"):
        build(size=3)
