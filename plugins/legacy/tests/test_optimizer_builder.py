import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.errors import ConfigError
from tf_frame_legacy import optimizer_builder

pytestmark = pytest.mark.usefixtures("graph")

RATE = {"learning_rate": {"constant_learning_rate": {"learning_rate": 0.5}}}


def plain(**optimizer):
    return {**optimizer, "use_moving_average": False}


def steps(optimizer, gradients, *, averaged=False):
    """Values of a variable that begins at 1, and of its average, after each of the gradients."""
    weight = tf.get_variable("weight", initializer=1.0)
    gradient = tf.placeholder(tf.float32, [])
    update = optimizer.apply_gradients([(gradient, weight)])
    fetches = [weight, *[v for v in tf.global_variables() if "Moving" in v.op.name]]
    values = []
    with initialized_session() as session:
        for value in gradients:
            session.run(update, {gradient: value})
            values.append(session.run(fetches if averaged else weight))
    return values


def test_momentum():
    optimizer, rates = optimizer_builder.build(plain(momentum_optimizer=RATE))
    assert [rate.op.name for rate in rates] == ["learning_rate"]
    # The API's momentum is 0.9.
    np.testing.assert_allclose(steps(optimizer, [1.0, 0.0]), [0.5, 0.05], rtol=1e-6)


def test_rms_prop():
    config = plain(rms_prop_optimizer={**RATE, "momentum_optimizer_value": 0.0, "decay": 0.5})
    optimizer, _ = optimizer_builder.build(config)
    # TensorFlow's mean square begins at 1; the API's epsilon is 1.
    expected = 1.0 - 0.5 * 2.0 / np.sqrt(0.5 + 0.5 * 2.0**2 + 1.0)
    np.testing.assert_allclose(steps(optimizer, [2.0]), [expected], rtol=1e-6)


def test_adam_of_an_object():
    rate = types.SimpleNamespace(constant_learning_rate=types.SimpleNamespace(learning_rate=0.5))
    config = types.SimpleNamespace(
        adam_optimizer=types.SimpleNamespace(learning_rate=rate), use_moving_average=False
    )
    optimizer, _ = optimizer_builder.build(config)
    np.testing.assert_allclose(steps(optimizer, [4.0]), [0.5], rtol=1e-6)


@pytest.mark.usefixtures("variable_mode")
def test_nadam_looks_ahead():
    """Two steps by hand, of a dense gradient and of one for a row; TensorFlow's epsilon is 1e-8."""
    optimizer, _ = optimizer_builder.build(plain(nadam_optimizer=RATE))
    weight = tf.get_variable("weight", initializer=1.0)
    rows = tf.get_variable("rows", initializer=[1.0, 1.0])
    gradient = tf.placeholder(tf.float32, [])
    row = tf.IndexedSlices(gradient[None], [1], tf.constant([2]))
    update = optimizer.apply_gradients([(gradient, weight), (row, rows)])
    m, v, expected, values = 0.0, 0.0, 1.0, []
    with initialized_session() as session:
        for step, value in enumerate([1.0, -0.5], 1):
            m, v = 0.9 * m + 0.1 * value, 0.999 * v + 0.001 * value**2
            rate = 0.5 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            expected -= rate * (0.9 * m + 0.1 * value) / (np.sqrt(v) + 1e-8)
            session.run(update, {gradient: value})
            values.append(session.run([weight, rows]))
            np.testing.assert_allclose(values[-1][0], expected, rtol=1e-4)
            np.testing.assert_allclose(values[-1][1], [1.0, expected], rtol=1e-4)
    names = {v.op.name for v in optimizer.variables()}
    assert names >= {"weight/Adam", "weight/Adam_1", "beta1_power"}


def test_adadelta():
    """One step by hand: epsilon 1e-8, the first update is sqrt(epsilon / mean square)."""
    optimizer, _ = optimizer_builder.build(plain(adadelta_optimizer={**RATE, "rho": 0.5}))
    expected = 1.0 - 0.5 * 2.0 * np.sqrt(1e-8 / (0.5 * 2.0**2 + 1e-8))
    np.testing.assert_allclose(steps(optimizer, [2.0]), [expected], rtol=1e-7)


def test_moving_averages_follow_the_update():
    optimizer, _ = optimizer_builder.build(
        {"momentum_optimizer": RATE, "moving_average_decay": 0.75}
    )
    values = steps(optimizer, [1.0], averaged=True)
    np.testing.assert_allclose(values, [[0.5, 0.875]])
    assert [v.op.name for v in optimizer.variables()] == ["weight/Momentum"]
    assert optimizer.get_slot_names() == ["momentum"]


def test_moving_averages_are_the_default(graph):
    optimizer, _ = optimizer_builder.build({"adam_optimizer": RATE})
    optimizer.minimize(tf.get_variable("weight", initializer=1.0))
    names = [variable.op.name for variable in tf.global_variables()]
    assert "weight/ExponentialMovingAverage" in names
    assert graph.get_operation_by_name("train_with_avg")


SCHEDULES = {
    "exponential_decay_learning_rate": ({"decay_steps": 1, "burnin_steps": 1}, 0.002 * 0.95),
    "manual_step_learning_rate": ({"schedule": [{"step": 2, "learning_rate": 0.25}]}, 0.25),
    "cosine_decay_learning_rate": ({"warmup_steps": 4}, (0.0002 + 0.002) / 2),
    "constant_learning_rate": ({}, 0.002),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_count_the_global_step(name):
    fields, expected = SCHEDULES[name]
    rate = optimizer_builder.create_learning_rate({name: fields})
    with tf.Session() as session:
        if name != "constant_learning_rate":
            session.run(tf.train.get_global_step().assign(2))
        assert session.run(rate) == pytest.approx(expected, rel=1e-5)


def test_builders_of_the_first_version_add_the_summary_themselves():
    summaries = set()
    optimizer = optimizer_builder.build(plain(momentum_optimizer=RATE), summaries)
    assert isinstance(optimizer, tf.train.MomentumOptimizer)
    with tf.Session() as session:
        (value,) = tf.Summary.FromString(session.run(summaries.pop())).value
    assert (value.tag, value.simple_value) == ("Learning_Rate", 0.5)


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({}, "Optimizer None not supported."),
        ({"sgd_optimizer": RATE}, "Optimizer sgd_optimizer not supported."),
        ({"adam_optimizer": {}}, "Learning_rate None not supported."),
        (
            {"adam_optimizer": {"learning_rate": {"poly_learning_rate": {}}}},
            "Learning_rate poly_learning_rate not supported.",
        ),
        (
            {"adam_optimizer": {"learning_rate": {"manual_step_learning_rate": {}}}},
            "Empty learning rate schedule.",
        ),
    ],
)
def test_errors_are_those_of_the_api(config, error):
    with pytest.raises(ValueError, match=error):
        optimizer_builder.build(config)


def test_a_misspelt_field_is_named():
    config = {"adam_optimizer": {"learning_rate": {"constant_learning_rate": {"rate": 1.0}}}}
    with pytest.raises(ConfigError, match="constant_learning_rate has no field rate; its fields"):
        optimizer_builder.build(config)
