"""The fixture `variable_mode`; a folder of tests may leave one of the modes to `-m slow`."""

import pytest
import tensorflow.compat.v1 as tf


def variable_mode_fixture(on_demand=None):
    """Returns a fixture that runs a test under resource variables and under reference variables.

    Args:
      on_demand: the kind of variables, `resource` or `reference`, with tests marked `slow`.
    """
    params = [
        pytest.param(kind, marks=pytest.mark.slow if kind == on_demand else ())
        for kind in ("resource", "reference")
    ]

    @pytest.fixture(params=params)
    def variable_mode(request):
        if request.param == "resource":
            yield request.param
            return
        tf.disable_resource_variables()
        yield request.param
        tf.enable_resource_variables()

    return variable_mode
