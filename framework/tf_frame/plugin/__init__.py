"""Plugins: their contracts, and how they are found, checked and loaded."""

from tf_frame.plugin.contracts import (
    Converter,
    GradientTransform,
    HookContext,
    HookPlugin,
    Input,
    InputContext,
    InputInfo,
    LearningRate,
    Mode,
    Model,
    ModelOutput,
    Optimizer,
    ScheduleContext,
    ServingForm,
)
from tf_frame.plugin.network_contracts import Network, NetworkContext, Preprocessing

__all__ = [
    "Converter",
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
]
