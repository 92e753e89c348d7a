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


def with_drawn_weights(net):
    return tf.nn.conv2d(net, tf.random.stateless_normal([3, 3, 3, 4], [1, 2]), 1, "SAME")


def freeze(build):
    """Returns the graph of constants of a network, its output, and the values of the output."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(0)
        output = tf.identity(build(tf.constant(IMAGE)), name="output")
        session.run(tf.global_variables_initializer())
        expected = session.run(output)
        graph_def = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["output"]
        )
    with tf.Graph().as_default() as frozen:
        tf.import_graph_def(graph_def, name="")
    return frozen, frozen.get_tensor_by_name("output:0"), expected


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
    graph, output, expected = freeze(
        lambda image: tf.nn.relu(normalized(layer(image, "kernel"), "norm"))
    )
    (norm,) = [op for op in graph.get_operations() if op.type == "FusedBatchNormV3"]
    assert fold_batch_norms(graph) == 1
    assert {"FusedBatchNormV3", "Rsqrt"}.isdisjoint(types(output)) and "BiasAdd" in types(output)
    with tf.Session(graph=graph) as session:
        # What was held before has its old meaning.
        found, held = session.run([output, norm.outputs[0]])
    np.testing.assert_allclose(found, expected, atol=2e-5, rtol=1e-5)
    np.testing.assert_allclose(np.maximum(held, 0), expected, atol=2e-5, rtol=1e-5)
    assert np.ptp(expected) > 1


@pytest.mark.parametrize(
    "build",
    [
        lambda net: normalized(convolution(net, "kernel"), "norm", is_training=True),
        lambda net: normalized(tf.nn.relu(convolution(net, "kernel")), "norm"),
        lambda net: normalized(net, "norm"),
        lambda net: normalized(convolution(tf.cast(net, tf.bfloat16), "kernel"), "norm"),
        lambda net: normalized(with_drawn_weights(net), "norm"),
    ],
    ids=[
        *("statistics of the batch", "after an activation", "without weights", "half precision"),
        "computed weights",
    ],
)
def test_other_batch_norms_stay(build):
    graph, output, _ = freeze(build)
    assert fold_batch_norms(graph) == 0
    assert "FusedBatchNormV3" in types(output)


def test_variables_are_no_constants():
    with tf.Graph().as_default() as graph:
        normalized(convolution(tf.constant(IMAGE), "kernel"), "norm")
        assert fold_batch_norms(graph) == 0


def test_a_convolution_that_others_read_is_left_to_them():
    def build(image):
        net = convolution(image, "kernel")
        return tf.nn.relu(normalized(net, "norm")) + net

    graph, output, expected = freeze(build)
    assert fold_batch_norms(graph) == 1
    with tf.Session(graph=graph) as session:
        np.testing.assert_allclose(session.run(output), expected, atol=2e-5, rtol=1e-5)


def test_a_batch_norm_in_a_loop_stays():
    def build(image):
        def again(step, net):
            return step + 1, normalized(convolution(net, "kernel", 3), "norm")

        return tf.while_loop(lambda step, net: step < 2, again, (tf.constant(0), image))[1]

    with switch_branches():
        graph, output, expected = freeze(build)
    assert fold_batch_norms(graph) == 0
    with tf.Session(graph=graph) as session:
        np.testing.assert_allclose(session.run(output), expected, rtol=1e-5)
