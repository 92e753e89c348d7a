"""Variables of tf.layers under the names and in the collections of tf.contrib.layers."""

import tensorflow.compat.v1 as tf

from tf_frame_legacy import layers
from tf_frame_legacy.contrib import layer_variables


def test_layers_get_model_variables_of_other_names(variable_mode):
    with tf.Graph().as_default():
        getter = layer_variables._build_variable_getter({"kernel": "weights", "bias": "biases"})
        with tf.variable_scope("conv", custom_getter=getter) as scope:
            layer = layers.Conv2D(2, 3, name="conv", _scope=scope)
            layer.apply(tf.zeros([1, 4, 4, 3]))
        names = [variable.op.name for variable in tf.model_variables()]
        assert names == ["conv/weights", "conv/biases"]
        assert [v.op.name for v in tf.trainable_variables()] == names
        for _ in range(2):
            layer_variables._add_variable_to_collections(
                layer.kernel, {"weights": ["kernels"], "biases": ["others"]}, "weights"
            )
        assert tf.get_collection("kernels") == [layer.kernel]
        assert tf.get_collection("others") == []
