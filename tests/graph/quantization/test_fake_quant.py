import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame.graph.quantization.fake_quant import FakeQuant, kept_share

pytestmark = pytest.mark.usefixtures("variable_mode")


@pytest.fixture(autouse=True)
def graph(variable_mode):
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def fake_quant(graph):
    """Rounds in every step, and measures the ranges."""
    return FakeQuant(active=None, keep=kept_share())


@pytest.mark.parametrize(
    ("kind", "values", "step", "levels"),
    [
        # 127 levels on either side of 0.
        ("weights", [-1.0, -0.405, 0.001, 0.4, 3.0], 3.0 / 127, [-42, -17, 0, 17, 127]),
        # 256 levels; the level of 0 is 62.2 from below, rounded to 62: levels -62 to 193.
        ("activations", [-1.0, -0.405, 0.001, 0.4, 3.1], 4.1 / 255, [-62, -25, 0, 25, 193]),
    ],
)
def test_values_go_to_the_nearest_level(fake_quant, kind, values, step, levels):
    rounded = getattr(fake_quant, kind)(tf.constant(values), "range")
    np.testing.assert_allclose(run_initialized(rounded) / step, levels, atol=1e-3)


# 127 times their 127th part is less than they are, in float32.
@pytest.mark.parametrize("greatest", [0.24841346, 0.99796224, -0.99980855, 1.0])
def test_every_weight_has_its_gradient_the_greatest_too(fake_quant, greatest):
    weights = tf.constant([greatest, 0.1, -0.05])
    (gradient,) = tf.gradients(fake_quant.weights(weights, "w"), [weights])
    np.testing.assert_array_equal(run_initialized(gradient), np.ones(3))


def measured_ranges(measure, batches):
    """The range after each batch; `measure` is a method of `FakeQuant`."""
    batch = tf.placeholder(tf.float32, [None])
    measure(batch, "range")
    updates, ranges = tf.get_collection(tf.GraphKeys.UPDATE_OPS), []
    with initialized_session() as session:
        for values in batches:
            session.run(updates, {batch: values})
            ranges.append(session.run(tf.get_collection("quant_vars")))
    return np.array(ranges)


def test_the_range_of_weights_is_the_last_one(fake_quant):
    ranges = measured_ranges(fake_quant.weights, [[-4.0, 2.0], [-0.5, 1.0]])
    np.testing.assert_allclose(ranges, [[-4.0, 4.0], [-1.0, 1.0]], rtol=1e-5)


def test_the_range_of_activations_is_a_debiased_moving_average(fake_quant):
    batches = np.random.RandomState(0).uniform(-3, 5, [20, 7])
    ranges = measured_ranges(fake_quant.activations, batches)
    average, expected = np.zeros(2), []
    for index, values in enumerate(batches, start=1):
        average = 0.999 * average + 0.001 * np.array([min(values.min(), 0), max(values.max(), 0)])
        expected.append(average / (1 - 0.999**index))
    np.testing.assert_allclose(ranges, expected, rtol=2e-4)


def test_the_range_holds_zero(fake_quant):
    ranges = measured_ranges(fake_quant.activations, [[3.0, 5.0], [-7.0, -5.0]])
    np.testing.assert_allclose(ranges, [[0.0, 5.0], [-3.5, 2.5]], atol=2e-3)


def test_only_zeros_are_left_alone(fake_quant):
    values = tf.zeros([3])
    rounded = fake_quant.activations(values, "a")
    outputs = run_initialized([rounded, *tf.gradients(rounded, [values])])
    np.testing.assert_array_equal(outputs, [[0, 0, 0], [1, 1, 1]])


def test_before_its_time_neither_value_nor_gradient_changes():
    active = tf.placeholder(tf.bool, [])
    fake_quant = FakeQuant(active=active, keep=None)
    values = tf.constant([-9.0, 0.123456, 9.0])
    rounded = fake_quant.activations(values, "a")
    (gradient,) = tf.gradients(rounded * rounded, [values])
    with initialized_session() as session:
        low, high = tf.get_collection("quant_vars")
        low.load(0.0, session)
        high.load(2.55, session)
        result = session.run([rounded, gradient], {active: False})
        np.testing.assert_array_equal(result[0], np.float32([-9.0, 0.123456, 9.0]))
        np.testing.assert_array_equal(result[1], 2 * result[0])
        result = session.run([rounded, gradient], {active: True})
        np.testing.assert_allclose(result[0], [0.0, 0.12, 2.55], atol=1e-4)
        # What is cut off learns nothing.
        np.testing.assert_allclose(result[1], [0.0, 0.24, 0.0], atol=1e-4)


def test_reading_ranges_measures_nothing():
    FakeQuant(active=None, keep=None).weights(tf.constant([1.0, 2.0]), "w")
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    assert [v.op.name for v in tf.global_variables()] == ["w/min", "w/max"]
