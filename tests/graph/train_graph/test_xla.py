import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.train_graph import xla_scope
from tf_frame.testing.toy import build_toy_graph
from xla_steps import train

IMAGES = np.random.RandomState(0).uniform(0, 255, [2, 33, 33, 3]).astype(np.float32)


def small_network():
    net = tf.constant(IMAGES / 255)
    norm = lambda x: layers.batch_norm(x, is_training=True, decay=0.9)  # noqa: E731
    net = layers.conv2d(net, 8, 3, stride=2, normalizer_fn=norm)
    net = layers.separable_conv2d(net, None, 3, rate=2, normalizer_fn=norm)
    net = layers.global_average_pool(net, keep_dims=False)
    tf.summary.histogram("features", net)
    logits = tf.matmul(net, tf.get_variable("weights", [8, 2]))
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_convolutions_and_their_gradients_are_compiled_and_the_loss_is_the_same():
    plain, run_plain = train(small_network, 6, xla=False)
    compiled, run_compiled = train(small_network, 6, xla=True)
    assert not [op for op in run_plain if "Xla" in op]
    assert any("Conv" in op and "BackpropFilter" in op for op in run_plain)
    assert "_XlaRun" in run_compiled
    assert not [op for op in run_compiled if "Backprop" in op]
    assert plain[-1] < plain[0] - 0.001
    np.testing.assert_allclose(compiled, plain, rtol=1e-4)


def test_random_numbers_are_those_of_a_run_without_xla():
    def draw(xla):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            seed = tf.placeholder_with_default([1, 2], [2])
            with xla_scope(RunOptions(xla=xla)):
                drawn = [tf.random.uniform([9]), tf.random.stateless_normal([9], seed=seed)]
                # A chain behind them makes it worth compiling.
                chains = [tf.sin(tf.sin(tf.sin(x + 0.1) * 1.5 + 0.1) * 1.5) for x in drawn]
            return session.run(chains)

    np.testing.assert_allclose(draw(True), draw(False), atol=1e-5)


@pytest.mark.usefixtures("variable_mode")
def test_random_numbers_and_variables_are_left_out():
    with tf.Graph().as_default() as graph, xla_scope(RunOptions(xla=True)):
        tf.random.stateless_uniform([2], seed=[1, 2])
        tf.random.categorical(tf.zeros([1, 2]), 3)
        weights = tf.get_variable("weights", [2], initializer=tf.truncated_normal_initializer())
        tf.assign_sub(weights, tf.exp(weights))
        marks = {op.type: op.get_attr("_XlaCompile") for op in graph.get_operations()}
    assert marks.pop("Exp") is True
    words = ("Assign", "Multinomial", "Random", "ReadVariable", "TruncatedNormal", "Var")
    left_out = {kind: mark for kind, mark in marks.items() if any(w in kind for w in words)}
    assert len(left_out) >= 6
    assert not any(left_out.values())


def test_each_scope_is_compiled_by_itself():
    with tf.Graph().as_default():
        products = []
        for _ in range(2):
            with xla_scope(RunOptions(xla=True)):
                products.append(tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).op)
        outside = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).op
    assert [op.get_attr("_XlaCompile") for op in products] == [True, True]
    assert len({op.get_attr("_XlaScope") for op in products}) == 2
    with pytest.raises(ValueError, match="_XlaCompile"):
        outside.get_attr("_XlaCompile")


@pytest.mark.parametrize("xla", [True, False])
def test_the_clones_of_a_run_are_compiled_if_asked_for(xla):
    config = RunOptions(train_batch_size=8, num_clones=2, xla=xla)
    graph = build_toy_graph(config, optimizer="sgd").graph
    products = [op for op in graph.get_operations() if op.type == "MatMul"]
    assert len(products) == 6  # Forward, and two gradients, of each clone.
    marked = [b"_XlaScope" in op.node_def.SerializeToString() for op in products]
    assert marked == [xla] * 6
    if xla:
        scopes = {op.name.split("/")[0]: op.get_attr("_XlaScope") for op in products}
        assert len(scopes) == len(set(scopes.values())) == 2
