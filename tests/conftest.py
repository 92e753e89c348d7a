"""Fixtures that every test may use."""

import os

import pytest


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    import tensorflow.compat.v1 as tf

    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


@pytest.fixture(params=["resource", "reference"])
def variable_mode(request):
    """Runs a test under resource variables and under reference variables."""
    import tensorflow.compat.v1 as tf

    if request.param == "resource":
        yield request.param
        return
    tf.disable_resource_variables()
    yield request.param
    tf.enable_resource_variables()


@pytest.fixture(scope="session")
def toy_environment(tmp_path_factory):
    """Environment of a process that has the plugin `toy` installed."""
    from tf_frame.testing.distributions import write_toy_distribution

    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    return {**os.environ, "PYTHONPATH": str(site)}
