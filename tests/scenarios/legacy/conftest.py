"""The legacy package's fixtures, for whole trainers and scripts."""

import pytest
import tensorflow.compat.v1 as tf

from ...legacy.conftest import control_flow_of_v1, graph, in_session, linear  # noqa: F401


@pytest.fixture(params=[pytest.param("resource", marks=pytest.mark.slow), "reference"])
def variable_mode(request):
    """Runs a test under reference variables, which old trainers have, and on demand under others.

    The tests of the legacy package's parts have both.
    """
    if request.param == "resource":
        yield request.param
        return
    tf.disable_resource_variables()
    yield request.param
    tf.enable_resource_variables()
