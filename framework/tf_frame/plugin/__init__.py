"""Plugins: their contracts, and how they are found, checked and loaded."""

from tf_frame.plugin.class_metric import ClassMean, ClassMetric
from tf_frame.plugin.contracts import (
    API_VERSION,
    Input,
    InputContext,
    Model,
    ModelOutput,
    ServingForm,
)
from tf_frame.plugin.data_report import DataReport, DataWarning, SplitReport
from tf_frame.plugin.evaluation_file import EvaluationFile
from tf_frame.plugin.exporting import export_format
from tf_frame.plugin.input_info import InputInfo, Mode
from tf_frame.plugin.network_contracts import Network, NetworkContext, Preprocessing
from tf_frame.plugin.training_contracts import (
    Command,
    Converter,
    GradientTransform,
    HookContext,
    HookPlugin,
    LearningRate,
    Optimizer,
    ScheduleContext,
)
from tf_frame.plugin.weights_contract import Weights, WeightsFile

__all__ = [
    "API_VERSION",
    "ClassMean",
    "ClassMetric",
    "Command",
    "Converter",
    "DataReport",
    "DataWarning",
    "EvaluationFile",
    "GradientTransform",
    "HookContext",
    "HookPlugin",
    "Input",
    "InputContext",
    "InputInfo",
    "LearningRate",
    "Mode",
    "Model",
    "ModelOutput",
    "Network",
    "NetworkContext",
    "Optimizer",
    "Preprocessing",
    "ScheduleContext",
    "ServingForm",
    "SplitReport",
    "Weights",
    "WeightsFile",
    "export_format",
]
