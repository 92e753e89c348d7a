"""Penalties that are summed before their scale, against the sum of the single penalties."""

import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import layers
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.graph import losses
from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.update.gradients import clone_gradients, sum_gradients
from tf_frame.graph.weight_penalties import sum_penalties
from tf_frame.plugin import ModelOutput

INPUTS = np.random.RandomState(0).normal(size=[4, 5]).astype(np.float32)
NUM_LAYERS = 5


def network(inputs, *, scales=(0.01,), make=layers.l2_regularizer):
    for index in range(NUM_LAYERS):
        regularizer = make(scales[index % len(scales)])
        inputs = layers.fully_connected(inputs, 7, weights_regularizer=regularizer)
    return inputs


def build(*, num_clones=1, regularization="full", **options):
    """The losses and the gradients by variable of clones in the default graph."""
    tf.set_random_seed(1)

    def model():
        return ModelOutput(loss=tf.reduce_mean(tf.square(network(tf.constant(INPUTS), **options))))

    clones = create_clones(DeploymentConfig(num_clones, clone_on_cpu=True), model)
    gathered = losses.gather_losses(clones, regularization=regularization)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = sum_gradients(clone_gradients(clones, gathered.per_clone, optimizer))
    return gathered, {v.op.name: gradient for gradient, v in pairs}


def results(**options):
    """Values of penalty and gradients, and the number of operations by type."""
    with tf.Graph().as_default():
        gathered, gradients = build(**options)
        types = collections.Counter(
            op.type for op in ancestors([gathered.total, *gradients.values()])
        )
        with initialized_session() as session:
            penalty, values = session.run([gathered.regularization, gradients])
    return penalty, {name: value.tobytes() for name, value in values.items()}, types


def results_alone(monkeypatch, **options):
    """Results with the sum of the single penalties."""
    with monkeypatch.context() as patch:
        patch.setattr(losses, "sum_penalties", lambda terms, _, name: tf.add_n(terms, name=name))
        return results(**options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"make": layers.l1_regularizer},
        {"make": lambda scale: layers.l1_l2_regularizer(scale, scale)},
        {"scales": (0.01, 0.3)},
        {"num_clones": 2},
        {"num_clones": 2, "regularization": "scaled"},
    ],
    ids=["l2", "l1", "l1 and l2", "two scales", "two clones", "scaled"],
)
def test_gradients_have_the_same_bytes(monkeypatch, variable_mode, options):
    penalty, gradients, _ = results(**options)
    expected, expected_gradients, _ = results_alone(monkeypatch, **options)
    assert gradients == expected_gradients
    assert penalty == pytest.approx(expected, rel=1e-6) and penalty > 0


def test_one_product_and_no_second_read_of_the_weights(monkeypatch):
    _, _, types = results()
    _, _, before = results_alone(monkeypatch)
    # The penalty has one product, its gradient two: by the scale, and the one for the scale.
    assert before["Mul"] - types["Mul"] == 3 * (NUM_LAYERS - 1)
    assert before["ReadVariableOp"] - types["ReadVariableOp"] == NUM_LAYERS
    assert types["L2Loss"] == NUM_LAYERS


def penalise():
    """Sums the penalties; returns the name of the operation that reads the only weights."""
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    sum_penalties(penalties, "", "sum")
    total = penalties[0].op
    (norm,) = [tensor.op for tensor in total.inputs if tensor.op.type == "L2Loss"]
    return norm.inputs[0].op.name


def weights(dtype=tf.float32):
    return tf.get_variable("w", [2], dtype, regularizer=layers.l2_regularizer(0.5))


def test_weights_that_are_read_more_than_once_have_a_read_for_the_penalty():
    own = "w/Regularizer/l2_regularizer/ReadVariableOp"
    for make, expected in (
        (lambda w: tf.exp(w, name="net"), "net/ReadVariableOp"),
        (lambda w: tf.exp(w, name="net") + tf.sin(w), own),
        (lambda w: tf.gather(w, [1]), own),
        (lambda w: w, own),
    ):
        with tf.Graph().as_default():
            variable = weights()
            make(variable)
            assert penalise() == expected
    with tf.Graph().as_default():
        variable = weights()
        with tf.control_dependencies([tf.no_op()]):
            tf.exp(variable)
        assert penalise() == own


def test_penalties_in_half_precision_and_of_programs_stay_single():
    with tf.Graph().as_default():
        for name in "ab":
            with tf.variable_scope(name):
                weights(tf.float16)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(1.0, tf.float16))
        penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        total = sum_penalties(penalties, "", "sum")
        assert [t.op.type for t in total.op.inputs] == ["Mul", "Mul", "Const"]
