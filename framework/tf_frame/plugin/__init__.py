"""Plugins: their contracts, and how they are found, checked and loaded."""

from tf_frame.plugin.contracts import (
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
)
from tf_frame.plugin.network_contracts import Network, NetworkContext, Preprocessing

__all__ = [
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
]
