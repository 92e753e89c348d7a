import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.graph.gradients import transform_gradients
from tf_frame.graph.update import apply_gradients

OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.9, centered=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
}
BATCHES = np.random.RandomState(0).randint(0, 6, [8, 4])
K = 4


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class Gate:
    """A transform that changes nothing and is ready when it is told so."""

    def __init__(self):
        self.open = tf.placeholder(tf.bool, [])

    def __call__(self, pairs):
        return pairs

    def ready(self):
        return self.open


class Graph:
    """A dense layer on the rows of an embedding, and its update.

    The gradient of `embedding` is sparse, that of `weights` dense.
    """

    def __init__(self, make_optimizer, transforms=()):
        self.rows = tf.placeholder(tf.int32, [None])
        embedding = tf.get_variable("embedding", [6, 3], initializer=tf.ones_initializer())
        weights = tf.get_variable("weights", [3, 1], initializer=tf.ones_initializer())
        unused = tf.get_variable("unused", [2], initializer=tf.ones_initializer())
        outputs = tf.matmul(tf.gather(embedding, self.rows), weights)
        loss = tf.reduce_mean(tf.square(outputs - tf.cast(self.rows[:, None], tf.float32)))
        global_step = tf.train.create_global_step()
        optimizer = make_optimizer()
        pairs = optimizer.compute_gradients(loss, [embedding, weights, unused])
        assert [type(gradient) for gradient, _ in pairs][::2] == [tf.IndexedSlices, type(None)]
        self.update = apply_gradients(
            optimizer,
            transform_gradients(pairs, transforms),
            transforms=transforms,
            global_step=global_step,
        )

    def train(self, session, batches, **feed):
        for rows in batches:
            session.run(self.update, {self.rows: rows, **feed})


def values(session):
    """All variables but those that accumulate, by name."""
    return {
        variable.op.name: session.run(variable)
        for variable in tf.global_variables()
        if not variable.op.name.startswith("accumulate/")
    }


def after(make_optimizer, batches, transforms=()):
    """The variables after training in a graph of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        graph = Graph(make_optimizer, [make() for make in transforms])
        session.run(tf.global_variables_initializer())
        graph.train(session, batches)
        return values(session)


def accumulate():
    return Accumulate(params=Accumulate.Params(steps=K))


def assert_same(left, right):
    assert left.keys() == right.keys()
    for name, value in left.items():
        np.testing.assert_allclose(value, right[name], rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.usefixtures("variable_mode")
def test_without_transforms_every_run_updates():
    trained = after(OPTIMIZERS["sgd"], BATCHES)
    assert trained["global_step"] == len(BATCHES)
    assert (trained["weights"] != 1.0).all()
    np.testing.assert_array_equal(trained["unused"], [1.0, 1.0])


def test_plain_functions_and_transforms_that_are_always_ready_change_nothing():
    trained = after(
        OPTIMIZERS["sgd"],
        BATCHES,
        [lambda: list, lambda: Accumulate(params=Accumulate.Params(steps=1))],
    )
    assert_same(trained, after(OPTIMIZERS["sgd"], BATCHES))
    assert trained["global_step"] == len(BATCHES)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", ["sgd", "momentum", "nesterov"])
def test_batches_that_are_accumulated_make_the_steps_of_large_batches(name):
    """Only of optimizers that treat sparse gradients as the dense ones that they stand for."""
    large = [np.concatenate(BATCHES[start : start + K]) for start in (0, K)]
    in_parts = after(OPTIMIZERS[name], BATCHES, [accumulate])
    at_once = after(OPTIMIZERS[name], [dense_rows(rows) for rows in large])
    assert in_parts["global_step"] == 2
    assert np.abs(in_parts["embedding"] - 1.0).max() > 0.01
    assert_same(in_parts, at_once)


def dense_rows(rows):
    assert set(rows) <= set(range(6))
    return rows


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_runs_that_are_not_ready_change_nothing_and_others_change_all(name):
    gate = Gate()
    graph = Graph(OPTIMIZERS[name], [gate])
    plain = after(OPTIMIZERS[name], BATCHES[:2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = values(session)
        graph.train(session, BATCHES[2:4], **{gate.open.name: False})
        for variable, value in values(session).items():
            np.testing.assert_array_equal(value, before[variable], err_msg=variable)
        graph.train(session, BATCHES[:1], **{gate.open.name: True})
        graph.train(session, BATCHES[2:4], **{gate.open.name: False})
        graph.train(session, BATCHES[1:2], **{gate.open.name: True})
        trained = values(session)
    assert trained["global_step"] == 2
    assert_same(trained, plain)
