"""The LSTM against NumPy, by one op for all steps and by many."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_recognition.networks.lstm import bidirectional

_BATCH, _TIME, _FEATURES, _UNITS = 2, 5, 3, 4


def _lstm(steps, kernel, bias):
    output = state = np.zeros([_BATCH, _UNITS])
    outputs = []
    for step in steps:
        i, j, f, o = np.split(np.concatenate([step, output], 1) @ kernel + bias, 4, axis=1)
        state = state / (1 + np.exp(-f - 1)) + np.tanh(j) / (1 + np.exp(-i))
        output = np.tanh(state) / (1 + np.exp(-o))
        outputs.append(output)
    return np.stack(outputs)


@pytest.fixture(scope="module")
def results():
    """Outputs and gradients of both forms, on the same variables."""
    # Large enough for states beyond 3, where the op would clip by default.
    features = np.random.RandomState(0).normal(size=[_BATCH, _TIME, _FEATURES]) * 5
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        sequence, forms = tf.constant(features, tf.float32), {}
        for fused in (True, False):
            with tf.variable_scope("", reuse=tf.AUTO_REUSE):
                outputs = bidirectional(sequence, _UNITS, fused=fused, scope="BidirectionalRnn")
            names = [variable.op.name for variable in tf.trainable_variables()]
            total = tf.reduce_sum(outputs**2)
            forms[fused] = (outputs, tf.gradients(total, [*tf.trainable_variables(), sequence]))
        session.run(tf.global_variables_initializer())
        session.run([variable.assign(variable * 3) for variable in tf.trainable_variables()])
        values = session.run(tf.trainable_variables())
        named = dict(zip(names, values, strict=True))
        return {"features": features, "variables": named, **session.run(forms)}


def test_outputs_are_those_of_the_equations_and_gradients_agree(results):
    steps = results["features"].transpose(1, 0, 2)
    parts = list(results["variables"].values())
    forward, backward = _lstm(steps, *parts[:2]), _lstm(steps[::-1], *parts[2:])[::-1]
    expected = np.concatenate([forward, backward], axis=2).transpose(1, 0, 2)
    for fused in (True, False):
        np.testing.assert_allclose(results[fused][0], expected, atol=1e-5)
    for fused, unfused in zip(results[True][1], results[False][1], strict=True):
        np.testing.assert_allclose(fused, unfused, rtol=1e-3, atol=1e-4)


def test_variables(results):
    shapes = {name: value.shape for name, value in results["variables"].items()}
    scope = "BidirectionalRnn/bidirectional_rnn"
    assert shapes == {
        f"{scope}/{direction}/lstm_cell/{name}": shape
        for direction in ("fw", "bw")
        for name, shape in (("kernel", (_FEATURES + _UNITS, 4 * _UNITS)), ("bias", (4 * _UNITS,)))
    }
