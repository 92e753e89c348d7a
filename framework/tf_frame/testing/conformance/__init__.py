"""Conformance suites: checks of the contracts that the tests of a plugin inherit.

from tf_frame.testing.conformance import ModelConformance

class TestLine(ModelConformance):
    plugin = "line"
    options = {"input.slope": 3}
"""

from tf_frame.testing.conformance.inputs import InputConformance
from tf_frame.testing.conformance.models import ModelConformance

__all__ = ["InputConformance", "ModelConformance"]
