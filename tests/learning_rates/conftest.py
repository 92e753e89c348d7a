"""Fixtures that evaluate a learning rate at given steps."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ScheduleContext
from tf_frame.config.option import resolve

CONTEXT = ScheduleContext(learning_rate=0.1, num_steps=100, steps_per_epoch=10.0)


@pytest.fixture
def make():
    """Constructs a schedule from options as a user gives them, checks included."""

    def construct(cls, context=None, **options):
        changed = dataclasses.replace(CONTEXT, **(context or {}))
        params = resolve(cls.Params, [{f"schedule.{k}": v for k, v in options.items()}], "schedule")
        return cls(params=params, context=changed)

    return construct


@pytest.fixture
def rates():
    """Returns a function that lists the learning rates at some steps."""

    def run(schedule, steps):
        with tf.Graph().as_default(), tf.Session() as session:
            step = tf.placeholder(tf.float32, [])
            rate = schedule(step)
            assert rate.shape == [] and rate.dtype == tf.float32
            return [float(session.run(rate, {step: number})) for number in steps]

    return run
