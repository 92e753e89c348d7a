"""tf-frame: train TensorFlow models that arrive as pip packages.

    $ pip install tf-frame-deeplab
    $ tf-frame run --plugin deeplab

Importing this package does not import TensorFlow.
"""

from tf_frame.config import option
from tf_frame.plugin import (
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

__version__ = "0.1.0"

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
    "Optimizer",
    "ScheduleContext",
    "__version__",
    "option",
]
