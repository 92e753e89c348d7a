"""The fixture of the variables' kind for the tests of this folder; event files are closed."""

import pytest
import tensorflow.compat.v1 as tf

from variable_modes import variable_mode_fixture

# Which kind it is matters to the updates of the graph, whose tests always have both.
variable_mode = variable_mode_fixture(on_demand="reference")


@pytest.fixture(autouse=True)
def closed_writers():
    yield
    tf.summary.FileWriterCache.clear()
