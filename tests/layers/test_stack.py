import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_each_layer_of_a_stack_has_its_own_arguments():
    with tf.Graph().as_default():
        layers.stack(tf.zeros([1, 4, 4, 2]), layers.conv2d, [(3, 1), (4, [2, 2])], scope="conv")
        layers.stack(tf.zeros([1, 4]), layers.fully_connected, [5, 6], activation_fn=None)
        shapes = {
            v.op.name: v.shape.as_list()
            for v in tf.global_variables()
            if v.op.name.endswith("weights")
        }
        assert not [
            op
            for op in tf.get_default_graph().get_operations()
            if "Stack" in op.name and op.type == "Relu"
        ]
    assert shapes == {
        "conv/conv_1/weights": [1, 1, 2, 3],
        "conv/conv_2/weights": [2, 2, 3, 4],
        "Stack/fully_connected_1/weights": [4, 5],
        "Stack/fully_connected_2/weights": [5, 6],
    }


def test_arguments_that_are_no_list_are_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="need to be a list or tuple"):
        layers.stack(tf.zeros([1, 4]), layers.fully_connected, 5)
