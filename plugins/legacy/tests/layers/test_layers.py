"""`tf_frame_legacy.layers` makes what TensorFlow 2.15's `tf.compat.v1.layers` made."""

import contextlib
import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import channels_first, initialized_session, run_initialized
from tf_frame import layers as slim_layers
from tf_frame_legacy import layers

from .tf_layers_cases import CASES, IMAGES, VECTORS, made_by

TABLE = json.loads((Path(__file__).parent / "tf_layers.json").read_text(encoding="utf-8"))


def flat(numbers):
    """Each number by its place, so that a difference shows where it is."""
    if isinstance(numbers, dict):
        return {
            (key, *place): n for key, each in numbers.items() for place, n in flat(each).items()
        }
    if isinstance(numbers, list):
        return flat(dict(enumerate(numbers)))
    return {(): numbers}


@pytest.mark.parametrize("case", CASES)
def test_equals_the_table(case):
    with channels_first() if case.endswith("_first") else contextlib.nullcontext():
        actual = made_by(case, layers)
    expected = dict(TABLE[case])
    for numbers in ("values", "penalties", "updated"):
        values = flat(actual.pop(numbers))
        assert values == pytest.approx(flat(expected.pop(numbers)), rel=1e-4, abs=1e-5), numbers
    assert actual == expected


def test_equals_the_table_with_reference_variables(reference_variables):
    test_equals_the_table("network")
    test_equals_the_table("called_twice")


def test_the_table_has_every_function():
    with open(inspect.getsourcefile(CASES["network"]), encoding="utf-8") as source:
        cases = source.read()
    assert [name for name in layers.__all__ if name.islower() and f"tfl.{name}(" not in cases] == []


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        yield graph


def test_initial_values_are_glorot_uniform_and_zero(graph):
    layers.conv2d(tf.zeros([1, 8, 8, 16]), 32, 3)
    layers.dense(tf.zeros([1, 50]), 70)
    kernel, bias, dense_kernel, _ = run_initialized(tf.global_variables())
    for values, fans in ((kernel, 9 * (16 + 32)), (dense_kernel, 50 + 70)):
        limit = np.sqrt(6 / fans)
        assert 0.98 * limit < np.abs(values).max() <= limit
        assert np.std(values) == pytest.approx(limit / np.sqrt(3), rel=0.05)
    assert not bias.any()


def test_an_initializer_of_the_scope_is_used(graph):
    with tf.variable_scope("ones", initializer=tf.ones_initializer()):
        outputs = layers.dense(tf.ones([1, 3]), 1)
    with initialized_session() as session:
        assert session.run(outputs).item() == 3.0


def test_constraints_apply_to_the_variables(graph):
    inputs = tf.ones([2, 3])
    hidden = layers.dense(inputs, 2, kernel_constraint=tf.nn.relu, kernel_initializer="ones")
    layers.batch_normalization(hidden, training=True, gamma_constraint=tf.nn.relu)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(hidden))
    kernel, _, gamma, _ = tf.trainable_variables()
    assert kernel.constraint is tf.nn.relu
    assert gamma.constraint is tf.nn.relu
    with initialized_session() as session:
        session.run(step)
        assert not session.run(kernel).any()  # 1 - 2 without the constraint.


def test_a_used_name_without_reuse_is_refused(graph):
    layers.dense(VECTORS, 2, name="logits")
    with pytest.raises(ValueError, match="logits/kernel already exists"):
        layers.dense(VECTORS, 2, name="logits")


def test_arg_scopes_of_slim_do_not_apply(graph):
    with slim_layers.arg_scope(
        [slim_layers.max_pool2d, slim_layers.flatten], outputs_collections="ends"
    ):
        layers.flatten(layers.max_pooling2d(IMAGES, 2, 2))
    with slim_layers.arg_scope([slim_layers.model_variable], device="/device:CPU:1"):
        layers.batch_normalization(IMAGES, training=True)
    assert tf.get_collection("ends") == []
    assert {variable.device for variable in tf.global_variables()} == {""}


def test_dropout_in_training(graph):
    ones = tf.ones([100, 100])
    dropped = layers.dropout(ones, rate=0.25, training=True, noise_shape=[100, 1])
    chosen = layers.dropout(ones, 0.25, training=tf.constant(False))
    with tf.Session() as session:
        values, kept = session.run([dropped, chosen])
    assert set(np.unique(values)) == {0.0, np.float32(1 / 0.75)}
    assert 0.1 < np.mean(values[:, 0] == 0) < 0.4
    assert (values == values[:, :1]).all()
    assert (kept == 1).all()


def test_members_of_a_layer(graph):
    layer = layers.Conv2D(4, 3, name="conv", kernel_regularizer=tf.nn.l2_loss)
    with pytest.raises(ValueError, match="has not been used yet"):
        _ = layer.scope_name
    with tf.variable_scope("net"):
        layer(IMAGES)
    norm = layers.BatchNormalization()
    norm(tf.constant(IMAGES), training=True)
    assert layer.scope_name == "net/conv"
    assert layer.kernel.op.name == "net/conv/kernel"
    assert layer.bias in layer.trainable_weights
    assert layer.count_params() == 3 * 3 * 3 * 4 + 4
    assert [loss.op.name for loss in layer.losses] == ["net/conv/kernel/Regularizer/L2Loss"]
    assert [v.op.name.rpartition("/")[2] for v in norm.variables] == [
        "gamma", "beta", "moving_mean", "moving_variance",
    ]  # fmt: skip
    assert norm.moving_mean in norm.non_trainable_variables
    assert norm.updates == tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(norm.updates) == 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: layers.conv2d(VECTORS, 2, 3), ValueError, "expected ndim=4, found ndim=2"),
        (lambda: layers.conv2d(IMAGES, 2, 3, padding="all"), ValueError, "padding is 'all'"),
        (lambda: layers.conv2d(IMAGES, 2, 3, data_format="NHWC"), ValueError, "channels_last"),
        (lambda: layers.conv2d(IMAGES, 2, 3, activation="rleu"), ValueError, "no activation"),
        (lambda: layers.dense(tf.constant([[1]]), 2), TypeError, "non-floating point dtype int32"),
        (lambda: layers.dense(tf.placeholder(tf.float32, [2, None]), 2), ValueError, "known"),
        (lambda: layers.dense(VECTORS, 2, kernel_initializer="he"), ValueError, "'he'"),
        (lambda: layers.dense(VECTORS), TypeError, "units"),
        (
            lambda: layers.batch_normalization(IMAGES, virtual_batch_size=2),
            ValueError,
            "virtual_batch_size",
        ),
        (lambda: layers.batch_normalization(IMAGES, axis=[1, 2]), ValueError, "one channel axis"),
    ],
)
def test_mistakes_are_named(graph, call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_help_shows_the_arguments():
    parameters = list(inspect.signature(layers.conv2d).parameters)
    assert parameters[:4] == ["inputs", "filters", "kernel_size", "strides"]
    assert parameters[-3:] == ["trainable", "name", "reuse"]
    assert list(inspect.signature(layers.max_pooling2d).parameters)[-1] == "name"


@pytest.mark.usefixtures("variable_mode", "graph")
def test_a_layer_may_derive_from_keras_too():
    """As DeepLab's core/conv2d_ws, which standardises the weights of a convolution."""

    class Standardized(tf.keras.layers.Conv2D, layers.Layer):
        def call(self, inputs):
            mean, variance = tf.nn.moments(self.kernel, [0, 1, 2], keep_dims=True)
            kernel = (self.kernel - mean) / tf.sqrt(variance + 1e-5)
            return self._convolution_op(inputs, kernel)

    def rename(getter, name, *args, **kwargs):
        return getter(name.replace("kernel", "weights"), *args, **kwargs)

    def convolve(images, **scope):
        with tf.variable_scope("conv1", custom_getter=rename, **scope) as opened:
            layer = Standardized(
                filters=4,
                kernel_size=3,
                padding="SAME",
                use_bias=False,
                name=opened.name,
                dtype=images.dtype.base_dtype,
                _scope=opened,
                _reuse=opened.reuse,
            )
            return layer.apply(images), layer

    images = tf.random_uniform([1, 5, 5, 2], seed=1)
    with tf.variable_scope("resnet"):
        (first, layer), (second, _) = convolve(images), convolve(images, reuse=True)
    assert [v.op.name for v in tf.global_variables()] == ["resnet/conv1/weights"]
    assert isinstance(layer, layers.Conv2D) and layer.rank == 2
    values = run_initialized([first, second, images, layer.kernel])
    kernel = values[3] - values[3].mean((0, 1, 2))
    kernel /= np.sqrt(values[3].var((0, 1, 2)) + 1e-5)
    middle = np.einsum("hwc,hwcf->f", values[2][0, 1:4, 1:4], kernel)
    np.testing.assert_allclose(values[0][0, 2, 2], middle, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(values[0], values[1])
