"""Weights with batch norm folded in, against the network that a converter would make."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.graph.quantization import quantize_eval_graph, quantize_training_graph

RANDOM = np.random.RandomState(3)
IMAGES = RANDOM.uniform(-1, 1, [2, 9, 9, 4]).astype(np.float32)
GAMMA = np.array([0.5, -1.5, 2.0, 1.0, 0.0, 0.3], np.float32)
BETA = np.array([0.1, -0.2, 0.3, 0.0, 0.7, -0.1], np.float32)
MEAN = np.array([0.2, 0.0, -0.3, 0.5, 0.1, 0.4], np.float32)
VARIANCE = np.array([0.25, 4.0, 1.0, 0.01, 1.0, 9.0], np.float32)
EPSILON = 0.001


def fake_quant(values, greatest):
    """127 levels on either side of 0."""
    step = greatest / 127
    return np.clip(np.round(values / step), -127, 127) * step


def conv(images, channels, rate, is_training=False):
    settings = {"normalizer_fn": norm(is_training), "activation_fn": None}
    return layers.conv2d(images, channels, 3, rate=rate, scope="layer", **settings)


def depthwise(images, channels, rate, is_training=False):
    settings = {"normalizer_fn": norm(is_training), "activation_fn": None}
    multiplier = channels // images.shape.as_list()[-1]
    return layers.separable_conv2d(
        images, None, 3, rate=rate, depth_multiplier=multiplier, scope="layer", **settings
    )


def norm(is_training):
    def normalise(inputs):
        return layers.batch_norm(inputs, is_training=is_training, scale=True, epsilon=EPSILON)

    return normalise


@pytest.mark.parametrize("rate", [1, 2])
@pytest.mark.parametrize("layer", [conv, depthwise])
def test_evaluation_equals_the_folded_network(layer, rate):
    images = IMAGES[..., :3]
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = tf.identity(layer(tf.constant(images), 6, rate))
        quantize_eval_graph(delay_steps=0)
        session.run(tf.global_variables_initializer())
        variables = {v.op.name: v for v in tf.global_variables()}
        (kernel,) = [v for name, v in variables.items() if name.endswith("weights")]
        load(session, variables, gamma=GAMMA, beta=BETA, moving_mean=MEAN, moving_variance=VARIANCE)
        factor = GAMMA / np.sqrt(VARIANCE + EPSILON)
        shape = [3, 2] if layer is depthwise else [6]
        folded = session.run(kernel) * factor.reshape(shape)
        # The range of the activations stays without width: they are not rounded here.
        greatest = 0.9 * np.abs(folded).max()
        variables["layer/weights_quant/min"].load(-greatest, session)
        variables["layer/weights_quant/max"].load(greatest, session)
        rounded = fake_quant(folded, greatest)
        product = tf.nn.depthwise_conv2d if layer is depthwise else tf.nn.conv2d
        rates = {"rate" if layer is depthwise else "dilations": [rate, rate]}
        expected = product(images, tf.constant(rounded, tf.float32), [1, 1, 1, 1], "SAME", **rates)
        expected = session.run(expected) + BETA - MEAN * factor
        actual = session.run(outputs)
    heard = GAMMA != 0
    np.testing.assert_allclose(actual[..., heard], expected[..., heard], rtol=0, atol=2e-5)
    np.testing.assert_allclose(actual[..., ~heard], np.broadcast_to(BETA[~heard], (2, 9, 9, 1)))
    assert np.abs(rounded - folded).max() > 0.01


def load(session, variables, **values):
    for name, value in values.items():
        variables[f"layer/BatchNorm/{name}"].load(value, session)


def test_the_range_is_that_of_the_weights_times_gamma_over_the_moving_deviation():
    with tf.Graph().as_default(), tf.Session() as session:
        conv(tf.constant(IMAGES), 6, 1, is_training=True)
        quantized = quantize_training_graph(delay_steps=0)
        session.run(tf.global_variables_initializer())
        variables = {v.op.name: v for v in tf.global_variables()}
        load(session, variables, gamma=GAMMA, moving_variance=VARIANCE)
        weights = session.run(variables["layer/weights"])
        session.run([op for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS) if "quant" in op.name])
        folded = weights * np.where(GAMMA == 0, 1, GAMMA / np.sqrt(VARIANCE + EPSILON))
        low, high = session.run([variables[f"layer/weights_quant/{e}"] for e in ("min", "max")])
    assert quantized.folded == ["layer"]
    assert high == pytest.approx(np.abs(folded).max(), rel=1e-5)
    assert low == -high


def test_without_a_moving_variance_the_weights_are_rounded_as_they_are(caplog):
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        caplog.at_level(logging.INFO, "tf_frame"),
    ):
        outputs = layers.conv2d(
            tf.constant(IMAGES),
            2,
            1,
            scope="layer",
            normalizer_fn=lambda x: tf.nn.fused_batch_norm(x, tf.ones([2]), tf.zeros([2]))[0],
        )
        quantized = quantize_training_graph(delay_steps=0)
        session.run(tf.global_variables_initializer())
        variables = {v.op.name: v for v in tf.global_variables()}
        session.run([outputs, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)])
        weights, high = session.run(
            [variables["layer/weights"], variables["layer/weights_quant/max"]]
        )
    assert (quantized.folded, quantized.not_folded) == ([], ["layer"])
    assert "its moving variance was not found: layer" in caplog.text
    assert high == pytest.approx(np.abs(weights).max(), rel=1e-5)
