"""`--recompute`: the same gradients, from activations that are computed a second time."""

import re
import warnings

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.graph.update.recompute import recomputed
from tf_frame.profiling.memory import memory_peaks

CPU = {"/job:localhost/replica:0/task:0/device:CPU:0": 0}
ONE = [Clone(None, "", "")]
IMAGES = np.random.RandomState(0).rand(4, 32, 32, 3).astype(np.float32)


def network(images, depth=3):
    """Blocks of a convolution, batch norm and dropout, with a residual in each."""
    net = layers.conv2d(images, 8, 3, scope="stem")
    for number in range(depth):
        with tf.variable_scope(f"net/block_{number}"):
            inner = layers.conv2d(net, 8, 3, activation_fn=None, scope="conv")
            inner = tf.nn.relu(layers.batch_norm(inner, is_training=True, scope="norm"))
            noise = tf.random.uniform(tf.shape(inner), seed=number)
            net = net + tf.where(noise < 0.8, inner, tf.zeros_like(inner))
    return tf.reduce_mean(tf.square(net))


def gradients(scopes, clones=ONE, build=network, images=IMAGES):
    """Values of the gradients, the peak of memory of a step, and the number of operations."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        losses = []
        for clone in clones:
            with tf.variable_scope("", reuse=tf.AUTO_REUSE), tf.name_scope(clone.scope):
                losses.append(build(tf.constant(images)))
        with recomputed(clones, scopes):
            made = [tf.gradients(loss, tf.trainable_variables()) for loss in losses]
        values = [gradient for of_clone in made for gradient in of_clone if gradient is not None]
        config = tf.ConfigProto()
        # As a training has it: an optimised graph, which must not undo the copies.
        config.graph_options.rewrite_options.constant_folding = 1
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            results = session.run(values, options=options, run_metadata=metadata)
        (memory,) = memory_peaks(metadata, CPU)
        return results, memory.peak, graph.get_operations()


def assert_equal(one, other):
    assert len(one) == len(other) > 4
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.fixture(params=["resource", "reference"])
def variables(request):
    if request.param == "reference":
        request.getfixturevalue("reference_variables")


def test_gradients_are_equal_bit_by_bit(variables):
    plain, _, before = gradients([])
    # Blocks one by one, and two of them as one.
    for scopes in (["net/block_0", "net/block_1"], ["net"]):
        results, _, ops = gradients(scopes)
        assert_equal(plain, results)
        copied = {op.type for op in ops if op.name.startswith("recompute")}
        assert {"Conv2D", "FusedBatchNormV3", "Relu"} <= copied
        # Random numbers are not drawn again.
        assert not any("Random" in type_ for type_ in copied)
        assert len(ops) > len(before)


def test_a_step_needs_less_memory():
    images = np.zeros([8, 64, 64, 3], np.float32)

    def deep(tensor):
        return network(tensor, depth=8)

    _, before, _ = gradients([], build=deep, images=images)
    scopes = [f"net/block_{number}" for number in range(8)]
    _, after, _ = gradients(scopes, build=deep, images=images)
    assert after < 0.7 * before


def test_each_clone_recomputes_its_own():
    clones = [Clone(None, f"clone_{number}/", "") for number in range(2)]
    plain, _, _ = gradients([], clones)
    results, _, ops = gradients(["net/block_1"], clones)
    assert_equal(plain, results)
    for clone in clones:
        copy = rf"recompute(_\d+)?/{clone.scope}net/block_1/conv/Conv2D"
        assert any(re.fullmatch(copy, op.name) for op in ops)


def test_a_loop_inside_is_recomputed_too():
    def build(images):
        net = layers.conv2d(images, 8, 3, scope="stem")
        with tf.name_scope("loop"):
            for _ in range(2):
                net = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, tf.tanh(x)), [0, net])[
                    1
                ]
        with tf.variable_scope("net"):
            net = layers.conv2d(net, 8, 3, scope="conv")
            net = tf.nn.relu(layers.batch_norm(net, is_training=True))
        return tf.reduce_sum(net * net)

    plain, _, _ = gradients([], build=build)
    results, _, _ = gradients(["net", "loop"], build=build)
    assert_equal(plain, results)


def test_a_scope_that_is_not_there_is_an_error_and_one_of_several_a_warning():
    with pytest.raises(ConfigError, match=r"--recompute 'no/such': no operation of this"):
        gradients(["no/such"])
    with pytest.warns(UnmatchedPatternWarning, match=r"no/such': .* there are .*net/block_0"):
        gradients(["net", "no/such"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnmatchedPatternWarning)
        gradients(["net/"])  # A slash at the end is fine.
