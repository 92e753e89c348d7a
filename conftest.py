"""Imports TensorFlow once and quietly, so that the output of the tests stays readable."""

import os

import pytest

from tf_frame.cli.screen import quiet_tensorflow, without_chatter

before = dict(os.environ)
quiet_tensorflow(None)
with without_chatter(None):
    import tensorflow  # noqa: F401
# Processes that tests start shall be as a user's.
os.environ.clear()
os.environ.update(before)


@pytest.fixture(scope="session", autouse=True)
def graphs_as_built():
    """Sessions of the tests' own processes run graphs as they were built, without optimising them.

    Optimising a graph that is run for a few steps takes longer than all its steps. A session whose
    configuration names a rewrite option optimises as that says, and so does every process that a
    test starts.
    """
    from tensorflow.python.client import pywrap_tf_session as client

    make_options = client.TF_NewSessionOptions

    def make_options_without_optimising(target=None, config=None):
        if config is not None and not config.graph_options.HasField("rewrite_options"):
            plain = type(config)()
            plain.CopyFrom(config)
            plain.graph_options.rewrite_options.disable_meta_optimizer = True
            config = plain
        return make_options(target=target, config=config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "TF_NewSessionOptions", make_options_without_optimising)
        yield


@pytest.fixture(scope="session", autouse=True)
def readiness_in_few_operations():
    """The tests' own sessions learn by few operations which variables have no value yet.

    A monitored session has two such lists, whose `boolean_mask` makes 20 operations of what `where`
    and `gather` do in two: a tenth of the time of all tests with a session.
    """
    import tensorflow.compat.v1 as tf
    from tensorflow.python.ops import variables

    report = variables.report_uninitialized_variables

    def report_in_few_operations(var_list=None, name="report_uninitialized_variables"):
        found = tf.global_variables() + tf.local_variables() if var_list is None else var_list
        if not found:
            return report(var_list, name)
        with tf.name_scope(name), tf.device("/cpu:0"):
            names = tf.constant([variable.op.name for variable in found])
            missing = tf.logical_not(tf.stack([tf.is_variable_initialized(v) for v in found]))
            return tf.gather(names, tf.reshape(tf.where(missing), [-1]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variables, "report_uninitialized_variables", report_in_few_operations)
        yield


@pytest.fixture(autouse=True)
def log_level():
    """Takes back the level that a command in this process sets, for processes of later tests."""
    yield
    os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)
    os.environ.update({k: v for k, v in before.items() if k == "TF_CPP_MIN_LOG_LEVEL"})
