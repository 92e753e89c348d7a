"""The reference numbers are those of DeepLab's second generation (2020), measured there."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig
from tf_frame.graph.learning_rates import learning_rate

POLY = {0: 1e-4, 50: 1e-4, 100: 0.007, 1000: 0.0068100793, 2000: 0.0065983632}
POLY_LATE = {15000: 0.0037624969, 30000: 0.0}


def rates(steps, **options):
    config = RunConfig(
        max_steps=30000,
        learning_rate=0.007,
        slow_start_learning_rate=1e-4,
        **{"learning_rate_policy": "poly", "slow_start_steps": 100, **options},
    )
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = learning_rate(config, step)
        return {s: session.run(rate, {step: s}) for s in steps}


def test_poly_with_slow_start():
    expected = {**POLY, **POLY_LATE}
    assert rates(expected) == pytest.approx(expected, abs=1e-7)


def test_linear_burn_in_rises_to_the_base_rate():
    expected = {**POLY, 50: 0.00355}
    assert rates(expected, slow_start_burnin="linear") == pytest.approx(expected, abs=1e-7)


def test_fixed_stays_after_the_slow_start():
    expected = {0: 1e-4, 99: 1e-4, 100: 0.007, 29999: 0.007}
    assert rates(expected, learning_rate_policy="fixed") == pytest.approx(expected, abs=1e-9)


def test_decay_steps_shorten_the_decay_and_end_learning_rate_bounds_it():
    options = {"slow_start_steps": 0, "decay_steps": 10, "end_learning_rate": 0.001}
    found = rates([0, 5, 10, 500], learning_power=1.0, **options)
    assert found == pytest.approx({0: 0.007, 5: 0.004, 10: 0.001, 500: 0.001}, abs=1e-8)
