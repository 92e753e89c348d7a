"""DeepLab's learning rates, with numbers measured with its train_utils of 10/2018 and of 2020.

Base rate 0.007, power 0.9, 30000 steps, slow start of 100 steps at 1e-4, and for "step" a factor
0.1 every 2000 steps.
"""

import logging
import math

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy.train_utils import get_model_learning_rate

EIGHT = (0.007, 2000, 0.1, 30000, 0.9, 100, 1e-4)
SLOW = {0: 1e-4, 50: 1e-4}
LATE = (100, 1000, 2000, 15000, 30000)
OLD, NEW = (
    (0.0069789966, 0.0067896456, 0.0065785651, 0.0037512074, 0.0),
    (0.007, 0.0068100793, 0.0065983632, 0.0037624969, 0.0),
)
POLY_2018, POLY_2020 = ({**SLOW, **dict(zip(LATE, late, strict=True))} for late in (OLD, NEW))
STEP_2018 = {**SLOW, 100: 0.007, 1000: 0.007, 2000: 0.0007, 15000: 7e-10, 30000: 7e-18}
STEP_2020 = {**STEP_2018, 2000: 0.007, 30000: 7e-17}


def rates(steps, policy, *arguments, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        rate = get_model_learning_rate(policy, *(arguments or EIGHT), **options)
        assert (rate.shape.as_list(), rate.dtype) == ([], tf.float32)
        global_step = tf.train.get_global_step()
        session.run(tf.global_variables_initializer())
        values = {}
        for step in steps:
            session.run(tf.assign(global_step, step))
            values[step] = float(session.run(rate))
        return values


@pytest.mark.parametrize(
    ("policy", "options", "expected"),
    [
        ("poly", {}, POLY_2018),
        ("step", {}, STEP_2018),
        ("poly", {"generation": 2018}, POLY_2018),
        ("poly", {"generation": 2020}, POLY_2020),
        ("step", {"generation": 2020}, STEP_2020),
        ("poly", {"slow_start_burnin_type": "none"}, POLY_2020),
        ("poly", {"decay_steps": 0.0, "end_learning_rate": 0.0}, POLY_2020),
        ("step", {"decay_steps": 0.0}, STEP_2020),
        ("poly", {"slow_start_burnin_type": "linear"}, {**POLY_2020, 50: 0.00355}),
        ("poly", {"decay_steps": 0.0, "generation": 2018}, POLY_2018),
    ],
)
def test_both_generations_have_their_numbers(policy, options, expected):
    values = rates(expected, policy, **options)
    assert values == pytest.approx(expected, rel=1e-6, abs=1e-7)
    # The late steps are far below the tolerance above, and must still not be 0.
    assert values[30000] == pytest.approx(expected[30000], rel=1e-5, abs=0)


def test_decay_steps_and_end_learning_rate_bound_poly():
    values = rates([100, 600, 1100, 5000], "poly", decay_steps=1000, end_learning_rate=0.001)
    half = 0.006 * 0.5**0.9 + 0.001
    assert values == pytest.approx({100: 0.007, 600: half, 1100: 0.001, 5000: 0.001}, abs=1e-7)
    # The ninth argument may be positional.
    assert rates([50], "poly", *EIGHT, "linear") == pytest.approx({50: 0.00355}, abs=1e-7)


def test_cosine_falls_over_what_is_left_after_the_slow_start():
    values = rates([99, 100, 15050, 30000], "cosine")
    assert values == pytest.approx({99: 1e-4, 100: 0.007, 15050: 0.0035, 30000: 0.0}, abs=1e-7)
    quarter = 0.007 * 0.5 * (1 + math.cos(math.pi / 4))
    assert rates([7575], "cosine") == pytest.approx({7575: quarter}, abs=1e-7)


def test_multi_steps_changes_at_boundaries_counted_from_the_slow_start():
    options = {"boundaries": [1000, 2000], "boundary_learning_rates": [0.1, 0.01, 0.001]}
    values = rates([0, 100, 1100, 1101, 2100, 2101], "multi_steps", **options)
    expected = {0: 1e-4, 100: 0.1, 1100: 0.1, 1101: 0.01, 2100: 0.01, 2101: 0.001}
    assert values == pytest.approx(expected, rel=1e-6)


def test_without_slow_start_the_first_step_has_the_base_rate():
    arguments = (0.007, 2000, 0.1, 30000, 0.9, 0, 1e-4)
    for options in ({}, {"generation": 2020}, {"slow_start_burnin_type": "linear"}):
        assert rates([0], "poly", *arguments, **options) == pytest.approx({0: 0.007}, abs=1e-9)


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        ("constant", {}, "Unknown learning policy."),
        ("constant", {"generation": 2020}, "Unknown learning policy."),
        ("cosine", {"generation": 2018}, "Unknown learning policy."),
        ("multi_steps", {"generation": 2018}, "Unknown learning policy."),
        ("poly", {"slow_start_burnin_type": "square"}, "Unknown burnin type."),
        ("poly", {"generation": 2019}, "use 2018 or 2020"),
        ("multi_steps", {}, "Must set `boundaries` and `boundary_learning_rates` for multi_steps"),
        ("multi_steps", {"boundaries": [10], "boundary_learning_rates": [0.1]}, "2 are needed"),
        ("multi_steps", {"boundaries": [10]}, "Must set `boundaries`"),
        ("multi_steps", {"boundary_learning_rates": [0.1]}, "Must set `boundaries`"),
    ],
)
def test_what_does_not_exist_is_an_error(policy, options, message):
    with pytest.raises((ValueError, ConfigError), match=message):
        rates([0], policy, **options)


def test_a_decay_over_all_of_training_is_logged(caplog):
    caplog.set_level(logging.INFO, "tf_frame")
    rates([0], "poly")
    rates([0], "poly", decay_steps=10)
    assert caplog.messages == ["Setting decay_steps to total training steps."]
