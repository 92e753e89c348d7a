import warnings

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.errors import UnmatchedPatternWarning

W = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([7.0, 8.0, 9.0], np.float32)


def options(path, **others):
    return WarmStartOptions(
        warm_start_from=path, **{f"warm_start_{name}": value for name, value in others.items()}
    )


def variable(name, shape, **more):
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer(), **more)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnmatchedPatternWarning)
        yield


def restored(plan):
    """Values of all variables, by name, after initialisation and `init_fn`."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        plan.init_fn(tf.train.Scaffold(), session)
        return {v.op.name: session.run(v) for v in tf.global_variables()}


def outcomes(plan):
    return {row.name: row.outcome.value for row in plan.rows}
