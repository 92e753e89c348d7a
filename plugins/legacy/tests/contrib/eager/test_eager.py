"""Programs with tf.contrib.eager: iterators, networks, metrics, savers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.eager import backprop, context

from tf_frame_legacy import layers
from tf_frame_legacy.contrib import eager as tfe


@pytest.fixture
def eager_mode():
    with tf.Graph().as_default(), context.eager_mode():
        yield


class Net(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name)
        self.first = self.track_layer(layers.Dense(3, activation=tf.nn.relu))
        self.second = self.track_layer(layers.Dense(1, kernel_regularizer=tf.nn.l2_loss))

    def call(self, inputs):
        return self.second(self.first(inputs))


class Outer(tfe.Network):
    def __init__(self):
        super().__init__()
        self.inner = self.track_layer(Net())
        self.out = self.track_layer(layers.Dense(2, name="out"))

    def call(self, inputs):
        return self.out(self.inner(inputs))


def names(network):
    return [variable.name for variable in network.variables]


@pytest.mark.usefixtures("eager_mode")
def test_iterator():
    iterator = tfe.Iterator(tf.data.Dataset.range(4))
    assert iterator.next().numpy() == 0
    assert iterator.get_next().numpy() == 1
    assert [element.numpy() for element in iterator] == [2, 3]
    assert iterator.output_types == tf.int64
    assert iterator.output_shapes == []
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_iterator_and_saver_are_for_eager_execution(graph):
    with pytest.raises(RuntimeError, match="make_one_shot_iterator"):
        tfe.Iterator(tf.data.Dataset.range(4))
    with pytest.raises(RuntimeError, match=r"tf\.train\.Saver"):
        tfe.Saver([])


@pytest.mark.usefixtures("eager_mode")
def test_a_network_trains():
    network, inputs = Net(), np.eye(4, dtype=np.float32)
    optimizer = tf.train.AdamOptimizer(0.05)
    loss = lambda: tf.reduce_mean((network(inputs) - 1.0) ** 2)  # noqa: E731
    before = loss().numpy()
    for _ in range(30):
        optimizer.apply_gradients(backprop.implicit_grad(loss)())
    assert loss().numpy() < before / 2
    assert len(network.trainable_variables) == 4
    assert len(tfe.get_optimizer_variables(optimizer)) == 10


@pytest.mark.usefixtures("eager_mode")
def test_names_of_variables():
    first, second, outer = Net(), Net(), Outer()
    for network in (first, second, outer):
        network(np.ones([1, 2], np.float32))
    parts = ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"]
    assert names(first) == [f"net/{part}" for part in parts]
    assert names(second) == [f"net_1/{part}" for part in parts]
    inner = [f"outer/net/{part}" for part in parts]
    assert names(outer) == [*inner, "outer/out/kernel:0", "outer/out/bias:0"]


def test_a_network_in_a_graph(graph):
    network = Net(name="net")
    for _ in range(2):
        network(tf.ones([1, 2]))
    assert names(network) == [variable.name for variable in tf.global_variables()]
    assert len(network.losses) == 1
    assert network.layers == [network.first, network.second]
    assert network.get_layer(index=1) is network.get_layer("dense_1") is network.second


@pytest.mark.parametrize("name", ["a/b", "scope"])
def test_names_that_a_network_refuses(graph, name):
    with tf.variable_scope("scope") as scope, pytest.raises(ValueError, match="not"):
        tfe.Network(scope if name == "scope" else name)


@pytest.mark.usefixtures("eager_mode")
def test_sequential_hands_training_to_those_that_take_it():
    def scaled(inputs, training):
        return inputs * 10.0 if training else inputs

    network = tfe.Sequential([layers.Dense(1, kernel_initializer=tf.ones_initializer()), scaled])
    network.add(lambda inputs: inputs + 1.0)
    assert network(np.ones([1, 2], np.float32), training=True).numpy() == [[21.0]]
    assert network.layers == [network.get_layer("dense")]
    with pytest.raises(TypeError, match="takes only"):
        network.add(3)


@pytest.mark.usefixtures("eager_mode")
def test_saver(tmp_path):
    network = Net()
    network(np.ones([1, 2], np.float32))
    saver = tfe.Saver(network.variables)
    prefix = saver.save(str(tmp_path / "model"), global_step=3)
    assert prefix.endswith("model-3")
    before = network.variables[0].numpy()
    network.variables[0].assign(before + 1.0)
    saver.restore(prefix)
    np.testing.assert_array_equal(network.variables[0].numpy(), before)


@pytest.mark.usefixtures("eager_mode")
def test_metrics():
    mean = tfe.metrics.Mean()
    mean([1.0, 2.0])
    mean([6.0, 100.0], weights=[1.0, 0.0])
    assert mean.result().numpy() == 3.0
    other = tfe.metrics.Mean("another mean")
    other(7.0)
    assert other.name == "another mean"
    mean.aggregate([other])
    assert mean.value()().numpy() == 4.0
    mean.init_variables()
    mean(5)
    assert mean.result().numpy() == 5.0
    with pytest.raises(TypeError, match="same type"):
        mean.aggregate([tfe.metrics.Accuracy()])


@pytest.mark.parametrize(
    "metric, labels, predictions",
    [
        (tfe.metrics.Accuracy, [1, 2, 3, 4], [0, 2, 3, 4]),
        (tfe.metrics.CategoricalAccuracy, np.eye(4)[[1, 1, 2, 3]], np.eye(4) + 1),
        (tfe.metrics.SparseAccuracy, [1, 1, 2, 3], np.eye(4)),
        (lambda: tfe.metrics.BinaryAccuracy(0.5), [1, 1, 0, 0], [0.9, 0.8, 0.6, 0.1]),
    ],
)
@pytest.mark.usefixtures("eager_mode")
def test_accuracies(metric, labels, predictions):
    accuracy = metric()
    accuracy(labels, predictions)
    assert accuracy.result().numpy() == 0.75


def test_metrics_in_a_graph(graph):
    mean = tfe.metrics.Mean()
    values = tf.placeholder(tf.float32, [None])
    update = mean(values)
    result = mean.value()
    assert [v.name for v in tf.local_variables()] == ["Mean/numer:0", "Mean/denom:0"]
    with tf.Session() as session:
        session.run(mean.init_variables())
        for batch in ([1.0, 2.0], [6.0]):
            session.run(update, {values: batch})
        assert session.run(result) == 3.0


def test_devices():
    assert any("CPU:0" in name for name in tfe.list_devices())
