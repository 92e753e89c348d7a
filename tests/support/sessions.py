"""Sessions for graphs that have not been run yet, and checkpoints of given values."""

import contextlib

import tensorflow.compat.v1 as tf


@contextlib.contextmanager
def initialized_session():
    """A session of the default graph, after the initialisation of its variables and tables."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        yield session


def run_initialized(fetches):
    """Returns the values of tensors of the default graph in a new session."""
    with initialized_session() as session:
        return session.run(fetches)


def save_variables(path, values, **options):
    """Writes a checkpoint of variables with these values; returns its path."""
    with tf.Graph().as_default():
        for name, value in values.items():
            tf.get_variable(name, initializer=value)
        with initialized_session() as session:
            return tf.train.Saver().save(session, str(path), **options)
