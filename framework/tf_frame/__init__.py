"""tf-frame: train TensorFlow models that arrive as pip packages.

    $ pip install tf-frame-deeplab
    $ tf-frame run --plugin deeplab

Importing this package does not import TensorFlow, so that `--help` and wrong options
answer at once; using `Estimator` and what belongs to it does.
"""

from typing import TYPE_CHECKING, Any

from tf_frame.config import option
from tf_frame.plugin import (
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
    Network,
    NetworkContext,
    Optimizer,
    Preprocessing,
    ScheduleContext,
    ServingForm,
)

if TYPE_CHECKING:
    from tf_frame.estimator.estimator import Estimator
    from tf_frame.estimator.model_function.spec import EstimatorSpec
    from tf_frame.estimator.run_config.run_config import RunConfig

__version__ = "0.1.0"

_OF_ESTIMATOR = ("Estimator", "EstimatorSpec", "RunConfig")

__all__ = [
    "Converter",
    "Estimator",
    "EstimatorSpec",
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
    "RunConfig",
    "ScheduleContext",
    "ServingForm",
    "__version__",
    "option",
]


def __getattr__(name: str) -> Any:
    if name in _OF_ESTIMATOR:
        from tf_frame import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
