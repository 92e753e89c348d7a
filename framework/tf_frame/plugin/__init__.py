"""Plugins: their contracts, and how they are found, checked and loaded."""

from tf_frame.plugin.contracts import (
    GradientTransform,
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

__all__ = [
    "GradientTransform",
    "Input",
    "InputContext",
    "InputInfo",
    "LearningRate",
    "Mode",
    "Model",
    "ModelOutput",
    "Optimizer",
    "ScheduleContext",
]
