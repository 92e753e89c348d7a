"""Counts of operations against counts by hand, and against TensorFlow's registry."""

import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework.ops import get_stats_for_node_def
from tensorflow.python.profiler.internal.flops_registry import IMPLEMENTED_OPS

from tf_frame.profiling.flops import UnknownShape, flops, is_product, multiply_adds


@pytest.fixture(scope="module", autouse=True)
def graph():
    """All operations of this module are made here, and none runs."""
    with tf.Graph().as_default() as graph:
        yield graph


def zeros(*shape):
    return tf.placeholder(tf.float32, shape)


def only(kind, end):
    """The operation of a type that `end` was made of, or is."""
    operations = end.graph.get_operations()
    return [op for op in operations if op.type == kind][-1]


def gradient(kind, output, *inputs):
    """The operation of a type among the gradients of an output."""
    ends = [end for end in tf.gradients(output, inputs) if end is not None]
    return only(kind, ends[0])


# Images of 2 x [8, 6] with 3 channels, kernel of [3, 5] to 7 channels, strides 2 x 1.
IMAGE, KERNEL = (2, 8, 6, 3), (3, 5, 3, 7)
# 2 x [4, 6] outputs with 7 channels, each of 3 * 5 * 3 products.
CONVOLUTION = 2 * 4 * 6 * 7 * (3 * 5 * 3)


def test_convolutions_and_their_gradients():
    image, kernel = zeros(*IMAGE), zeros(*KERNEL)
    output = tf.nn.conv2d(image, kernel, [1, 2, 1, 1], "SAME")
    assert multiply_adds(output.op) == CONVOLUTION
    assert flops(output.op) == 2 * CONVOLUTION
    for kind in ("Conv2DBackpropInput", "Conv2DBackpropFilter"):
        assert multiply_adds(gradient(kind, output, image, kernel)) == CONVOLUTION
    image, kernel = zeros(2, 3, 8, 6), zeros(*KERNEL)
    output = tf.nn.conv2d(image, kernel, [1, 1, 2, 1], "SAME", data_format="NCHW")
    assert multiply_adds(output.op) == CONVOLUTION
    pooled = tf.raw_ops.AvgPool(
        value=image, ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], padding="SAME", data_format="NCHW"
    )
    assert flops(pooled.op) == 2 * 3 * 4 * 3 * (2 * 2)
    output = tf.nn.conv2d(zeros(1, 4, 4, 6), zeros(3, 3, 2, 9), 1, "SAME")
    assert multiply_adds(output.op) == 4 * 4 * 9 * (3 * 3 * 2)


def test_depthwise_convolutions_volumes_and_resizes():
    image, kernel = zeros(2, 8, 8, 3), zeros(3, 3, 3, 2)
    output = tf.nn.depthwise_conv2d(image, kernel, [1, 2, 2, 1], "SAME")
    count = 2 * 4 * 4 * (3 * 2) * (3 * 3)
    assert multiply_adds(only("DepthwiseConv2dNative", output)) == count
    for kind in ("Input", "Filter"):
        name = f"DepthwiseConv2dNativeBackprop{kind}"
        assert multiply_adds(gradient(name, output, image, kernel)) == count
    volume, kernel = zeros(1, 4, 4, 4, 2), zeros(3, 3, 3, 2, 5)
    output = tf.nn.conv3d(volume, kernel, [1, 1, 1, 1, 1], "SAME")
    count = 4**3 * 5 * (3**3 * 2)
    assert multiply_adds(output.op) == count
    for kind in ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"):
        assert multiply_adds(gradient(kind, output, volume, kernel)) == count
    image = zeros(1, 4, 4, 3)
    output = tf.image.resize_bilinear(image, [8, 8])
    assert flops(output.op) == 8 * 8 * 3 * (3 * 3)
    # The gradient of each of the 8 x 8 outputs goes to four pixels.
    assert flops(gradient("ResizeBilinearGrad", output, image)) == 8 * 8 * 3 * (4 * 2)


def test_matrix_products():
    left, right = zeros(4, 5), zeros(5, 6)
    product = tf.matmul(left, right)
    assert multiply_adds(product.op) == 4 * 5 * 6
    for end in tf.gradients(product, [left, right]):
        assert multiply_adds(end.op) == 4 * 5 * 6
    left, right = zeros(7, 5, 4), zeros(7, 5, 6)
    product = tf.matmul(left, right, transpose_a=True)
    assert multiply_adds(product.op) == 7 * 4 * 5 * 6


@pytest.mark.parametrize(("training", "each"), [(True, 4), (False, 2)])
def test_batch_norm_counts_as_in_grapplers_cost_model(training, each):
    image, one = zeros(2, 4, 4, 3), zeros(3)
    statistics = {} if training else {"mean": one, "variance": one}
    output, _, _ = tf.nn.fused_batch_norm(image, one, one, is_training=training, **statistics)
    values = 2 * 4 * 4 * 3
    assert flops(output.op) == each * values
    assert flops(gradient("FusedBatchNormGradV3", output, image)) == 11 * values


def test_an_update_counts_each_trained_value_once(graph):
    for resource, form in ((False, "Apply{}"), (True, "ResourceApply{}")):
        with tf.variable_scope(f"resource_{resource}", use_resource=resource):
            weights = tf.get_variable("weights", [3, 4])
        loss = tf.nn.l2_loss(weights)
        for name, count in (("GradientDescent", 2), ("Momentum", 4), ("Adam", 12), ("RMSProp", 11)):
            rest = {"momentum": 0.9} if name == "Momentum" else {}
            optimizer = getattr(tf.train, f"{name}Optimizer")(learning_rate=0.1, **rest)
            update = optimizer.minimize(loss)
            assert flops(only(form.format(name), update)) == count * 3 * 4


def test_integers_moved_data_and_unknown_shapes():
    numbers = tf.placeholder(tf.int32, [4])
    assert flops(tf.add(numbers, 1).op) == 0
    assert flops(tf.transpose(zeros(3, 4)).op) == 0
    product = tf.matmul(zeros(None, 5), zeros(5, 6))
    assert is_product(product.op)
    for count in (multiply_adds, flops):
        with pytest.raises(UnknownShape):
            count(product.op)


def build_registered():
    """Makes operations of the types that TensorFlow's registry counts, and gradients of some."""
    image, left, right = zeros(2, 8, 6, 3), zeros(2, 5), zeros(2, 5)
    kernel, bias = zeros(3, 3, 3, 4), zeros(4)
    conv = tf.nn.bias_add(tf.nn.conv2d(image, kernel, [1, 2, 2, 1], "SAME"), bias)
    pools = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    mean, maximum = tf.raw_ops.AvgPool(value=conv, **pools), tf.raw_ops.MaxPool(input=conv, **pools)
    tf.gradients([mean, maximum], [image, kernel, bias])
    tf.nn.depthwise_conv2d(image, zeros(3, 3, 3, 2), [1, 1, 1, 1], "SAME")
    tf.nn.conv3d(zeros(1, 4, 4, 4, 2), zeros(3, 3, 3, 2, 5), [1] * 5, "SAME")
    tf.matmul(left, zeros(5, 4))
    tf.matmul(zeros(3, 2, 5), zeros(3, 5, 4))
    tf.add_n([left, right, left])
    tf.gradients(tf.math.rsqrt(left), left)
    of_one = (tf.square, tf.log, tf.negative, tf.math.reciprocal, tf.nn.softmax, tf.nn.l2_loss)
    for make in of_one:
        make(left)
    of_two = (tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum)
    for make in (*of_two, tf.add, tf.squared_difference, tf.greater, tf.greater_equal):
        make(left, right)
    for make in (tf.less, tf.less_equal, tf.equal, tf.not_equal):
        make(left, right)
    for make in (tf.reduce_sum, tf.reduce_mean, tf.argmax, tf.argmin):
        make(left, axis=1)
    variable = tf.get_variable("counted", [3, 4], use_resource=False)
    tf.assign_add(variable, tf.ones([3, 4]))
    tf.assign_sub(variable, tf.ones([3, 4]))


def test_the_counts_of_tensorflows_registry_are_the_same():
    with tf.Graph().as_default() as graph:
        build_registered()
    compared = set()
    for op in graph.get_operations():
        registered = get_stats_for_node_def(graph, op.node_def, "flops").value
        if registered is not None and op.outputs[0].dtype != tf.int32:
            assert flops(op) == registered, op.type
            compared.add(op.type)
    # `Add` has become `AddV2`, and tf-frame's layers have no morphological dilation.
    batches = {"BatchMatMulV2", "BatchMatMulV3"} & compared
    assert compared == (IMPLEMENTED_OPS - {"Add", "Dilation2D"}) | {"Conv3D"} | batches
    assert batches
