"""Plugins: their contracts, and how they are found, checked and loaded."""

from tf_frame.plugin.contracts import (
    GradientTransform,
    Input,
    InputContext,
    InputInfo,
    Mode,
    Model,
    ModelOutput,
)

__all__ = [
    "GradientTransform",
    "Input",
    "InputContext",
    "InputInfo",
    "Mode",
    "Model",
    "ModelOutput",
]
