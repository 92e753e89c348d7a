import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.errors import ConfigError
from tf_frame_legacy import quantize, slim

from .signatures import list_arguments

IMAGES = np.random.RandomState(0).uniform(-1, 1, [4, 8, 8, 3]).astype(np.float32)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        yield graph


def network():
    net = slim.conv2d(tf.constant(IMAGES), 4, 3, scope="conv")
    return slim.fully_connected(slim.flatten(net), 2, activation_fn=None, scope="logits")


def training(**how):
    """Builds a training in the order of slim's train_image_classifier.py."""
    step = tf.train.create_global_step()
    loss = tf.reduce_sum(tf.square(network()))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    quantize.create_training_graph(**how)
    optimizer = tf.train.GradientDescentOptimizer(1e-3)
    return tf.group(optimizer.minimize(loss, step), *updates)


def test_the_ranges_are_measured_by_the_model_itself(graph, variable_mode):
    train_op = training(quant_delay=2)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    ranges = {v.op.name: v for v in tf.get_collection("quant_vars")}
    assert sorted(ranges) == [
        f"{layer}/{kind}/{end}"
        for layer in ("conv", "logits")
        for kind in ("act_quant", "weights_quant")
        for end in ("max", "min")
    ]
    with initialized_session() as session:
        session.run(train_op)
        measured = session.run(ranges)
        kernel = session.run(slim.get_unique_variable("conv/weights"))
    assert measured["conv/weights_quant/max"] >= np.abs(kernel).max() * 0.9
    assert measured["conv/act_quant/max"] > 0
    assert measured["logits/act_quant/min"] < 0


def test_evaluation_rounds_as_training_did(graph, tmp_path):
    train_op = training()
    with initialized_session() as session:
        session.run(train_op)
        path = tf.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=1)
    outputs = {}
    for rewrite in (None, quantize.create_eval_graph):
        with tf.Graph().as_default() as other, tf.Session(graph=other) as session:
            tf.train.create_global_step()
            logits = tf.identity(network())
            if rewrite:
                rewrite(input_graph=other)
            tf.train.Saver().restore(session, path)
            outputs[rewrite] = session.run(logits)
    assert not np.array_equal(outputs[None], outputs[quantize.create_eval_graph])
    np.testing.assert_allclose(outputs[None], outputs[quantize.create_eval_graph], atol=0.1)


def levels(bits):
    """The number of values of rounded activations."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.set_random_seed(1)
        outputs = slim.conv2d(tf.constant(IMAGES), 4, 3, scope="conv")
        rounded = tf.identity(outputs)
        quantize.experimental_create_training_graph(
            graph, weight_bits=bits, activation_bits=bits, scope="conv"
        )
        session.run(tf.global_variables_initializer())
        return len(np.unique(session.run(rounded)))


def test_other_numbers_of_bits():
    # 4 * 8 * 8 * 4 outputs of a rectifier.
    assert levels(2) <= 4
    assert 8 < levels(4) <= 16
    assert 128 < levels(8) <= 256


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ({"weight_bits": 1}, ConfigError, "1 bits for weights"),
        ({"symmetric": True}, ValueError, "symmetric"),
        ({"freeze_bn_delay": 100}, ValueError, "freeze_bn_delay=100"),
        ({"scope": "elsewhere"}, ConfigError, "'elsewhere'"),
    ],
)
def test_what_is_not_supported_is_named(graph, how, error, text):
    network()
    with pytest.raises(error, match=text):
        quantize.experimental_create_training_graph(**how)


@pytest.mark.parametrize("optimizer", [tf.train.AdamOptimizer, tf.train.FtrlOptimizer])
def test_a_graph_with_an_optimizer_is_refused(graph, optimizer, variable_mode):
    optimizer(0.1).minimize(tf.reduce_sum(network()))
    for rewrite in (quantize.create_training_graph, quantize.create_eval_graph):
        with pytest.raises(ValueError, match="Training op found in graph"):
            rewrite()


def test_arguments_are_those_of_contrib():
    assert list_arguments(quantize.experimental_create_training_graph) == (
        "input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=0, "
        "freeze_bn_delay=None, scope=None"
    )
    assert list_arguments(quantize.create_training_graph) == "input_graph=None, quant_delay=0"
