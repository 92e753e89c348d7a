import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets.lenet import lenet, lenet_arg_scope


def build(num_classes=10, images=None, **arguments):
    images = tf.zeros([2, 28, 28, 1]) if images is None else images
    with layers.arg_scope(lenet_arg_scope(weight_decay=0.01)):
        return lenet(images, num_classes, **arguments)


def test_variables_end_points_and_initial_values_are_slims(
    slim_variables, variables_in, count_parameters, build_clones
):
    with tf.Graph().as_default() as graph:
        _, end_points = build(is_training=True)
    assert variables_in(graph) == slim_variables("lenet")
    assert variables_in(graph, tf.GraphKeys.MODEL_VARIABLES) == slim_variables("lenet")
    # By hand: 3 x 3 halvings of 28 leave 7 x 7 pixels of 64 channels before fc3.
    convolutions = (5 * 5 * 1 + 1) * 32 + (5 * 5 * 32 + 1) * 64
    dense = (7 * 7 * 64 + 1) * 1024 + (1024 + 1) * 10
    assert count_parameters(variables_in(graph)) == convolutions + dense == 3_274_634
    assert {name: point.shape.as_list() for name, point in end_points.items()} == {
        "conv1": [2, 28, 28, 32],
        "pool1": [2, 14, 14, 32],
        "conv2": [2, 14, 14, 64],
        "pool2": [2, 7, 7, 64],
        "Flatten": [2, 3136],
        "fc3": [2, 1024],
        "dropout3": [2, 1024],
        "Logits": [2, 10],
        "Predictions": [2, 10],
    }
    assert lenet.default_image_size == 28
    # Weights begin small and are decayed.
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer(graph.get_collection("variables")))
        weights = session.run("LeNet/conv2/weights/Read/ReadVariableOp:0")
        penalties = session.run(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    # Two deviations of 0.1 are the cut; 0.8796 is the deviation that it leaves.
    assert np.abs(weights).max() <= 0.2
    assert weights.std() == pytest.approx(0.08796, rel=0.01)
    assert len(penalties) == 4
    assert penalties[1] == pytest.approx(0.01 * (weights**2).sum() / 2, rel=1e-4)
    graph, _ = build_clones(lambda: build(is_training=True))
    assert variables_in(graph) == slim_variables("lenet")
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 4


def test_features_are_dropped_in_training_only():
    with tf.Graph().as_default():
        images = tf.random.stateless_uniform([1, 28, 28, 1], seed=[1, 2])
        points = []
        for is_training in (True, False):
            with tf.variable_scope("", reuse=not is_training):
                points.append(build(images=images, is_training=is_training)[1])
        (dropped, whole), (kept, plain) = run_initialized(
            [(point["dropout3"], point["fc3"]) for point in points]
        )
    assert (kept == plain).all()
    survivors = dropped != 0
    assert 0.3 < survivors[whole > 0].mean() < 0.7
    np.testing.assert_allclose(dropped[survivors], 2 * whole[survivors], rtol=1e-6)


def test_images_of_which_nothing_would_be_left_are_refused():
    with tf.Graph().as_default():
        build(images=tf.zeros([2, 4, 4, 1]))
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="28 x 3 pixels.* 4 x 4"):
        build(images=tf.zeros([2, 28, 3, 1]))
