"""Fixtures that every test may use."""

import os

import pytest

from variable_modes import variable_mode_fixture


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    import tensorflow.compat.v1 as tf

    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


variable_mode = variable_mode_fixture()


@pytest.fixture(scope="session")
def toy_environment(tmp_path_factory):
    """Environment of a process that has the plugin `toy` installed."""
    from tf_frame.testing.distributions import write_toy_distribution

    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    return {**os.environ, "PYTHONPATH": str(site)}


@pytest.fixture
def cluster():
    """Starts one parameter server and two worker servers; yields the workers' targets."""
    import forked
    from tf_frame.testing.local_servers import local_servers

    with local_servers(num_ps=1, num_workers=2, popen=forked.Popen) as targets:
        yield targets
