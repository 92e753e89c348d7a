import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import learning_schedules


def rates(schedule, steps, *args, **kwargs):
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = schedule(step, *args, **kwargs)
        assert rate.op.name == "learning_rate"
        assert rate.dtype == tf.float32
        return [session.run(rate, {step: number}) for number in steps]


def test_exponential_decay_counts_from_the_end_of_the_burn_in():
    values = rates(
        learning_schedules.exponential_decay_with_burnin,
        [0, 1, 2, 4, 5, 8, 11],
        1.0,
        3,
        0.5,
        burnin_learning_rate=0.25,
        burnin_steps=2,
        min_learning_rate=0.2,
    )
    np.testing.assert_allclose(values, [0.25, 0.25, 1.0, 1.0, 0.5, 0.25, 0.2])


def test_exponential_decay_counts_from_the_end_of_the_warm_up():
    schedule = learning_schedules.exponential_decay_with_warmup
    values = rates(
        schedule,
        [0, 1, 2, 4, 5, 8, 11],
        1.0,
        3,
        0.5,
        warmup_learning_rate=0.1,
        warmup_steps=2,
        min_learning_rate=0.2,
    )
    np.testing.assert_allclose(values, [0.1, 0.55, 1.0, 1.0, 0.5, 0.25, 0.2])
    assert rates(schedule, [0, 1], 1.0, 1, 0.5) == [1.0, 0.5]
    with pytest.raises(ValueError, match="must be larger or equal to warmup_learning_rate"):
        schedule(0, 0.1, 3, 0.5, warmup_learning_rate=0.2, warmup_steps=2)


def test_exponential_decay_without_steps_of_its_own():
    values = rates(
        learning_schedules.exponential_decay_with_burnin, [0, 1, 2], 1.0, 2, 0.25, staircase=False
    )
    np.testing.assert_allclose(values, [1.0, 0.5, 0.25])


@pytest.mark.parametrize(
    ("warmup", "expected"),
    [(False, [1, 1, 1, 3, 3, 0.5, 0.5]), (True, [1, 1.4, 2.6, 3, 3, 0.5, 0.5])],
)
def test_manual_stepping(warmup, expected):
    values = rates(
        learning_schedules.manual_stepping,
        [0, 1, 4, 5, 9, 10, 99],
        [5, 10],
        [1.0, 3.0, 0.5],
        warmup,
    )
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_manual_stepping_without_boundaries_is_constant():
    assert rates(learning_schedules.manual_stepping, [0, 7], [], [0.5]) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("boundaries", "values", "error"),
    [
        ([-1, 2], [1.0, 0.1, 0.01], "boundaries must be a list of positive integers"),
        ([2, 2], [1.0, 0.1, 0.01], "Entries in boundaries must be strictly increasing."),
        ([1, 2], [1.0, 0.1, 1], "Learning rates must be floats"),
        ([1, 2], [1.0, 0.1], "Number of provided learning rates must exceed number of boundary"),
        ([0, 2], [1.0, 0.1, 0.01], "First step cannot be zero."),
    ],
)
def test_manual_stepping_refuses(boundaries, values, error):
    with pytest.raises(ValueError, match=error):
        learning_schedules.manual_stepping(0, boundaries, values)


def test_cosine_decay_with_warm_up_and_hold():
    values = rates(
        learning_schedules.cosine_decay_with_warmup,
        [0, 2, 4, 6, 7, 9, 10, 20],
        1.0,
        10,
        warmup_learning_rate=0.2,
        warmup_steps=4,
        hold_base_rate_steps=2,
    )
    decay = [0.5 * (1 + math.cos(math.pi * done / 4)) for done in (1, 3)]
    np.testing.assert_allclose(values, [0.2, 0.6, 1.0, 1.0, *decay, 0.0, 0.0], atol=1e-6)


def test_a_hold_longer_than_the_decay_lasts_to_the_end():
    values = rates(
        learning_schedules.cosine_decay_with_warmup,
        [0, 1, 2, 10, 11],
        1.0,
        10,
        warmup_steps=2,
        hold_base_rate_steps=10,
    )
    np.testing.assert_allclose(values, [0.0, 0.5, 1.0, 1.0, 0.0])


def test_cosine_decay_refuses():
    cosine = learning_schedules.cosine_decay_with_warmup
    error = "learning_rate_base must be larger or equal to warmup_learning_rate."
    with pytest.raises(ValueError, match=error):
        cosine(0, 0.1, 10, warmup_learning_rate=0.2, warmup_steps=2)
    with pytest.raises(ValueError, match="total_steps must be larger or equal to warmup_steps."):
        cosine(0, 0.1, 10, warmup_steps=11)
