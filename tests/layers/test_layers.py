"""Names and shapes as tf-slim 1.1.0 gave them under TensorFlow 2.15, for the same calls.

But for one: the penalty of a depthwise convolution without a pointwise one lay
outside the name scope of its clone there, as `.../depthwise_weights/Regularizer`.
"""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

VARIABLES = """
net/Conv/weights 3,3,3,4
net/Conv/biases 4
net/Conv_1/weights 3,3,4,4
net/Conv_1/BatchNorm/gamma 4
net/Conv_1/BatchNorm/beta 4
net/Conv_1/BatchNorm/moving_mean 4
net/Conv_1/BatchNorm/moving_variance 4
net/block/SeparableConv2d/depthwise_weights 3,3,4,1
net/block/SeparableConv2d/pointwise_weights 1,1,4,5
net/block/SeparableConv2d/biases 5
net/block/SeparableConv2d_1/depthwise_weights 3,3,5,1
net/block/SeparableConv2d_1/BatchNorm/beta 5
net/block/SeparableConv2d_1/BatchNorm/moving_mean 5
net/block/SeparableConv2d_1/BatchNorm/moving_variance 5
net/block/project/inner/weights 1,1,5,4
net/block/project/inner/biases 4
net/block/unit/Conv/weights 1,1,4,4
net/block/unit/Conv/biases 4
net/block/unit_1/Conv/weights 1,1,4,4
net/block/unit_1/Conv/biases 4
net/Conv2d_transpose/weights 3,3,3,4
net/Conv2d_transpose/biases 3
net/ConvInPlane/weights 3,3,1,1
net/ConvInPlane/biases 3
net/BiasAdd/biases 3
net/shared/weights 1,1,3,3
net/shared/biases 3
net/fully_connected/weights 3,5
net/fully_connected/biases 5
net/fully_connected_1/weights 5,5
net/Conv_2/weights 2,2,3
net/Conv_2/biases 3
net/Conv_3/weights 2,2,2,2,3
net/Conv_3/biases 3
net/Conv3d_transpose/weights 2,2,2,3,3
net/Conv3d_transpose/biases 3
""".strip().splitlines()
# Alias of an end point, and its tensor.
END_POINTS = """
net/Conv {}net/Conv/Relu
net/Conv_1 {}net/Conv_1/Relu
net/block/SeparableConv2d {}net/block/SeparableConv2d/Relu
net/block/SeparableConv2d_1 {}net/block/SeparableConv2d_1/Relu
net/block/project/inner {}net/block/project/inner/BiasAdd
net/block/unit/Conv {}net/block/unit/Conv/Relu
net/block/unit_1/Conv {}net/block/unit_1/Conv/Relu
net/Conv2d_transpose {}net/Conv2d_transpose/Relu
net/ConvInPlane {}net/ConvInPlane/Relu
net/BiasAdd {}net/BiasAdd/BiasAdd
net/shared {}net/shared_1/Relu
net/fully_connected {}net/fully_connected/Relu
net/fully_connected_1 {}net/fully_connected_1/Relu
""".strip().splitlines()
# The scopes of penalties, of which `l2_regularizer` is the op.
PENALTIES = """
net/Conv/kernel
net/Conv_1/kernel
net/block/SeparableConv2d/depthwise_kernel
net/block/SeparableConv2d/pointwise_kernel
net/block/SeparableConv2d_1/depthwise_kernel
net/block/project/inner/kernel
net/block/unit/Conv/kernel
net/block/unit_1/Conv/kernel
net/Conv2d_transpose/kernel
net/shared/kernel
net/fully_connected/kernel
net/fully_connected_1/kernel
""".strip().splitlines()
PENALISED = [
    layers.conv2d,
    layers.separable_conv2d,
    layers.fully_connected,
    layers.conv2d_transpose,
]
COLLECTED = [*PENALISED, layers.bias_add, layers.conv2d_in_plane]


def network(reuse=None):
    with (
        tf.variable_scope("net", reuse=reuse),
        layers.arg_scope(COLLECTED, outputs_collections="ends"),
        layers.arg_scope(PENALISED, weights_regularizer=layers.l2_regularizer(0.1)),
    ):
        net = layers.conv2d(tf.zeros([2, 8, 8, 3]), 4, 3)
        params = {"scale": True}
        net = layers.conv2d(net, 4, 3, normalizer_fn=layers.batch_norm, normalizer_params=params)
        net = block(net)
        net = layers.conv2d_transpose(net, 3, 3, stride=2)
        net = layers.conv2d_in_plane(net, 3)
        net = layers.bias_add(net)
        net = layers.conv2d(net, 3, 1, scope="shared")
        net = layers.conv2d(net, 3, 1, scope="shared", reuse=True)
        net = layers.fully_connected(net, 5)
        layers.fully_connected(net, 5, biases_initializer=None)
        layers.convolution(tf.zeros([1, 4, 2]), 3, 2)
        net = layers.convolution3d(tf.zeros([1, 4, 4, 4, 2]), 3, 2)
        layers.convolution3d_transpose(net, 3, 2)


def block(net):
    with tf.variable_scope("block"):
        net = layers.separable_conv2d(net, 5, 3)
        net = layers.separable_conv2d(net, None, 3, normalizer_fn=layers.batch_norm)
        net = layers.conv2d(net, 4, 1, activation_fn=None, scope="project/inner")
        for _ in range(2):
            with tf.variable_scope(None, "unit"):
                net = layers.conv2d(net, 4, 1)
    return net


def listed(variables):
    return [f"{v.op.name} {','.join(map(str, v.shape.as_list()))}" for v in variables]


def end_points():
    tensors = layers.convert_collection_to_dict("ends", clear_collection=True)
    return [f"{alias} {tensor.op.name}" for alias, tensor in tensors.items()]


def test_variables_and_end_points_have_slims_names(variable_mode):
    network()
    assert listed(tf.global_variables()) == VARIABLES
    assert listed(tf.model_variables()) == VARIABLES
    assert listed(tf.trainable_variables()) == [v for v in VARIABLES if "moving" not in v]
    assert end_points() == [line.format("") for line in END_POINTS]


def test_clones_share_variables_and_penalties_but_not_updates():
    with tf.name_scope("clone_0"):
        network()
    assert end_points() == [line.format("clone_0/") for line in END_POINTS]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 4
    names = [f"clone_0/{scope}/Regularizer/l2_regularizer" for scope in PENALTIES]
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [penalty.op.name for penalty in penalties] == names
    with tf.name_scope("clone_1"):
        network(reuse=True)
    assert end_points() == [line.format("clone_1/") for line in END_POINTS]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 8
    assert listed(tf.global_variables()) == VARIABLES
    assert listed(tf.model_variables()) == VARIABLES
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == penalties
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, "clone_1/") == []


def test_a_layer_is_shared_only_when_asked_for():
    layers.conv2d(tf.zeros([1, 4, 4, 3]), 3, 1, scope="layer")
    with pytest.raises(ValueError, match="layer/weights already exists"):
        layers.conv2d(tf.zeros([1, 4, 4, 3]), 3, 1, scope="layer")
    with pytest.raises(ValueError, match="other/weights does not exist"):
        layers.conv2d(tf.zeros([1, 4, 4, 3]), 3, 1, scope="other", reuse=True)
    with pytest.raises(ValueError, match="shape"):
        layers.conv2d(tf.zeros([1, 4, 4, 3]), 5, 1, scope="layer", reuse=True)
