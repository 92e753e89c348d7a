"""Sessions for graphs that have not been run yet; training steps; checkpoints of given values."""

import contextlib

import pytest
import tensorflow.compat.v1 as tf


@contextlib.contextmanager
def initialized_session(graph=None, config=None):
    """A session of a graph, by default the default graph, with initialised variables and tables."""
    with (graph or tf.get_default_graph()).as_default(), tf.Session(config=config) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        yield session


def run_initialized(fetches):
    """Returns the values of tensors of the default graph in a new session."""
    with initialized_session() as session:
        return session.run(fetches)


def train_steps(train_graph, steps=1, *, fetch=None):
    """Trains in a new session; returns all variables by name, and the fetched values of each step.

    Args:
      train_graph: a `TrainGraph`; clones on logical CPUs have their devices.
      steps: number of session calls.
      fetch: the tensors that a call fetches; None: the train op.
    """
    fetch = train_graph.train_op if fetch is None else fetch
    config = tf.ConfigProto(device_count={"CPU": len(train_graph.clones)})
    config.allow_soft_placement = True
    with initialized_session(train_graph.graph, config) as session:
        fetched = [session.run(fetch) for _ in range(steps)]
        return session.run({v.op.name: v for v in tf.global_variables()}), fetched


def compute(function, *arrays):
    """Returns the values of a function's tensors, of a graph of its own with constants."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(function(*map(tf.constant, arrays)))


def save_variables(path, values, **options):
    """Writes a checkpoint of variables with these values; returns its path."""
    with tf.Graph().as_default():
        for name, value in values.items():
            tf.get_variable(name, initializer=value)
        with initialized_session() as session:
            return tf.train.Saver().save(session, str(path), **options)


def save_values(path, values):
    """Writes a checkpoint of these values without making variables, which is faster.

    Returns its path. The folder's list of checkpoints does not name it.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(path),
                tensor_names=list(values),
                shape_and_slices=[""] * len(values),
                tensors=list(values.values()),
            )
        )
    return str(path)


@contextlib.contextmanager
def channels_first():
    """Skips the test where this CPU cannot run its operations; with channels first few can."""
    try:
        yield
    except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError) as error:
        if "NHWC" not in error.message:
            raise
        pytest.skip("without oneDNN, TensorFlow runs it with the channels last only")
