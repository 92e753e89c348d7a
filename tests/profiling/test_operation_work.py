"""Floating-point operations and bytes of recorded nodes, also of those that Grappler fuses."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling.operation_work import find_work
from tf_frame.profiling.step_profile import Node, Work


@pytest.fixture
def work(graph):
    """The work of nodes of a graph with a convolution and a product, by name and type."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 3], name="images")
    kernel = tf.constant(0.0, shape=[3, 3, 3, 4])
    net = tf.nn.conv2d(images, kernel, 1, "SAME", name="conv")
    net = tf.nn.relu(tf.nn.bias_add(net, tf.zeros([4]), name="bias"), name="relu")
    scale, offset = tf.ones([4]), tf.zeros([4])
    net, _, _ = tf.nn.fused_batch_norm(net, scale, offset, name="norm")
    net = tf.nn.relu(net, name="relu_1")
    product = tf.matmul(tf.reshape(net, [-1, 256]), tf.ones([256, 10]), name="product")
    variable = tf.get_variable("variable", [10])
    step = tf.identity(tf.reduce_sum(product + variable), name="step")

    def work(name, type_):
        return find_work([Node(name, type_)], graph=graph, step=step, batch_size=2)[0]

    return work


# Two images of 8 x 8 with 3 and with 4 channels; 4 bytes each.
IMAGES, NET, KERNEL = 4 * 2 * 64 * 3, 4 * 2 * 64 * 4, 4 * 108


def test_operations_as_they_were_built(work):
    conv = Work(2 * 2 * 64 * 4 * 27, IMAGES + KERNEL + NET)
    assert work("conv", "Conv2D") == work("conv", "_MklNativeConv2D") == conv
    product = Work(2 * 2 * 256 * 10, NET + 4 * 256 * 10 + 4 * 2 * 10)
    assert work("product", "MatMul") == product
    assert work("relu", "Relu") == Work(512, 2 * NET)


def test_fused_operations_have_the_inputs_of_the_first_and_the_output_of_the_last(work):
    conv = Work(2 * 2 * 64 * 4 * 27, IMAGES + KERNEL + NET)
    assert work("relu", "_FusedConv2D") == work("relu", "_MklNativeFusedConv2D") == conv
    norm = work("relu_1", "_FusedBatchNormEx")
    # Scale and offset; the inputs for given statistics are empty.
    assert norm == Work(4 * 512, NET + 2 * 16 + NET)


def test_what_is_not_known(work):
    assert work("gone", "Conv2D") is None  # Made by Grappler.
    assert work("relu", "_FusedMatMul") is None  # No product is behind it.
    assert work("variable/Read/ReadVariableOp", "ReadVariableOp") is None
