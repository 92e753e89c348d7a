import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors, switch_branches
from tf_frame.graph.inference.fold_batch_norm import fold_batch_norms
from tf_frame.layers.batch_norm import batch_norm

RANDOM = tf.random_uniform_initializer(0.5, 2.0, seed=1)
STATISTICS = dict.fromkeys(("beta", "gamma", "moving_mean", "moving_variance"), RANDOM)
IMAGE = np.random.RandomState(0).randn(2, 9, 9, 3).astype(np.float32)


def normalized(net, scope, *, is_training=False):
    return batch_norm(
        net, scale=True, is_training=is_training, param_initializers=STATISTICS, scope=scope
    )


def convolution(net, name, filters=4):
    kernel = tf.get_variable(name, [3, 3, net.shape[-1], filters], net.dtype)
    return tf.nn.conv2d(net, kernel, 1, "SAME")


def depthwise(net, name, *, rate=1):
    kernel = tf.get_variable(name, [3, 3, net.shape[-1], 2])
    return tf.nn.depthwise_conv2d(net, kernel, [1, 1, 1, 1], "SAME", dilations=[rate, rate])


def types(tensor):
    return {op.type for op in ancestors([tensor])}


@pytest.mark.parametrize(
    "layer",
    [
        convolution,
        depthwise,
        lambda net, name: depthwise(net, name, rate=2),
        lambda net, name: convolution(net[..., :0:-1], name),
    ],
)
def test_the_same_is_computed_without_batch_norm(layer, variable_mode):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(0)
        net = layer(tf.constant(IMAGE), "kernel")
        norm = normalized(net, "norm")
        output = tf.nn.relu(norm)
        assert fold_batch_norms(graph) == 1
        assert "FusedBatchNormV3" not in types(output) and "BiasAdd" in types(output)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            # What was held before has its old meaning.
            found, expected, before = session.run([output, tf.nn.relu(norm), net])
            np.testing.assert_allclose(found, expected, atol=2e-5, rtol=1e-5)
            assert np.ptp(expected) > 1 and before.shape == expected.shape


@pytest.mark.parametrize(
    "build",
    [
        lambda net: normalized(convolution(net, "kernel"), "norm", is_training=True),
        lambda net: normalized(tf.nn.relu(convolution(net, "kernel")), "norm"),
        lambda net: normalized(net, "norm"),
        lambda net: normalized(convolution(tf.cast(net, tf.bfloat16), "kernel"), "norm"),
    ],
    ids=["statistics of the batch", "after an activation", "without weights", "half precision"],
)
def test_other_batch_norms_stay(build):
    with tf.Graph().as_default() as graph:
        output = tf.identity(build(tf.constant(IMAGE)))
        assert fold_batch_norms(graph) == 0
        assert "FusedBatchNormV3" in types(output)


def test_a_convolution_that_others_read_is_left_to_them():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(0)
        net = convolution(tf.constant(IMAGE), "kernel")
        output = tf.nn.relu(normalized(net, "norm")) + net
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            expected = session.run(output)
            values = session.run(tf.global_variables())
        assert fold_batch_norms(graph) == 1
        with tf.Session() as session:
            for variable, value in zip(tf.global_variables(), values, strict=True):
                variable.load(value, session)
            np.testing.assert_allclose(session.run(output), expected, atol=2e-5, rtol=1e-5)


def test_a_batch_norm_in_a_loop_stays():
    with tf.Graph().as_default() as graph, switch_branches():
        output = tf.while_loop(
            lambda step, net: step < 2,
            lambda step, net: (step + 1, normalized(convolution(net, "kernel", 3), "norm")),
            (tf.constant(0), tf.constant(IMAGE)),
        )[1]
        assert fold_batch_norms(graph) == 0
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(output).shape == IMAGE.shape
