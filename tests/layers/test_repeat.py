import functools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def names():
    return [v.op.name for v in tf.global_variables() if v.op.name.endswith("weights")]


def test_a_layer_is_repeated_on_what_it_returned():
    def double(inputs, by, scope):
        return tf.multiply(inputs, by, name=scope)

    with tf.Session() as session:
        outputs = layers.repeat(3.0, 2, double, by=10)
        assert outputs.op.name == "Repeat/double_2"
        assert session.run(outputs) == 300


def test_names_follow_from_the_scope_or_the_layer():
    images = tf.zeros
    layers.repeat(images([1, 4, 4, 2]), 2, layers.conv2d, 3, [1, 1], scope="conv1")
    narrow = functools.partial(layers.fully_connected, num_outputs=2)
    layers.repeat(images([1, 4]), 1, narrow)

    class Dense:
        def __call__(self, inputs, scope):
            return layers.fully_connected(inputs, 2, scope=scope)

    layers.repeat(images([1, 4]), 1, Dense())
    assert names() == [
        "conv1/conv1_1/weights",
        "conv1/conv1_2/weights",
        "Repeat/fully_connected_1/weights",
        "Repeat_1/repeat_1/weights",
    ]


def test_each_layer_of_a_stack_has_its_own_arguments():
    layers.stack(tf.zeros([1, 4, 4, 2]), layers.conv2d, [(3, 1), (4, [2, 2])], scope="conv")
    layers.stack(tf.zeros([1, 4]), layers.fully_connected, [5, 6], activation_fn=None)
    operations = tf.get_default_graph().get_operations()
    assert not [op for op in operations if "Stack" in op.name and op.type == "Relu"]
    with pytest.raises(ValueError, match="need to be a list or tuple"):
        layers.stack(tf.zeros([1, 4]), layers.fully_connected, 5)
    weights = [v for v in tf.global_variables() if v.op.name.endswith("weights")]
    shapes = {v.op.name: v.shape.as_list() for v in weights}
    assert shapes == {
        "conv/conv_1/weights": [1, 1, 2, 3],
        "conv/conv_2/weights": [2, 2, 3, 4],
        "Stack/fully_connected_1/weights": [4, 5],
        "Stack/fully_connected_2/weights": [5, 6],
    }
