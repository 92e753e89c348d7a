"""Conformance suites: base classes for the tests of a plugin, with checks of the plugin's contract.

The tests of a plugin's package subclass the suite of its kind; pytest runs the checks:

    from tf_frame.testing.conformance import ModelConformance

    class TestLine(ModelConformance):
        plugin = "line"
        options = {"input.slope": 3}
"""

from tf_frame.testing.conformance.check import CheckResult, check_plugin, run_suite
from tf_frame.testing.conformance.commands import CommandConformance, ConverterConformance
from tf_frame.testing.conformance.hooks import HookConformance
from tf_frame.testing.conformance.image_parts import NetworkConformance, PreprocessingConformance
from tf_frame.testing.conformance.inputs import InputConformance
from tf_frame.testing.conformance.models import ModelConformance
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.testing.conformance.training_parts import (
    LearningRateConformance,
    OptimizerConformance,
)
from tf_frame.testing.conformance.transforms import GradientTransformConformance
from tf_frame.testing.conformance.weights import WeightsConformance

__all__ = [
    "CheckResult",
    "CommandConformance",
    "Conformance",
    "ConverterConformance",
    "GradientTransformConformance",
    "HookConformance",
    "InputConformance",
    "LearningRateConformance",
    "ModelConformance",
    "NetworkConformance",
    "OptimizerConformance",
    "PreprocessingConformance",
    "WeightsConformance",
    "check_plugin",
    "run_suite",
]
