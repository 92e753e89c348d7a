"""tf-frame: train TensorFlow models that arrive as pip packages.

    $ pip install tf-frame-deeplab
    $ tf-frame run --plugin deeplab

Importing this package does not import TensorFlow, so that `--help` and errors in options appear at
once. The first use of `Estimator` or another name in `_MODULES` may import TensorFlow.

Public names are in this module and in `tf_frame.atomic_output`, `errors`, `estimator`, `hooks`,
`layers`, `tensorflow_log`, `testing` and `text`. Plugins import nothing else: every other module
may change in any release.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tf_frame.config import option
from tf_frame.plugin import (
    ClassMean,
    ClassMetric,
    Command,
    Converter,
    DataReport,
    DataWarning,
    EvaluationFile,
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
    SplitReport,
    Weights,
    WeightsFile,
    export_format,
)

if TYPE_CHECKING:
    from tf_frame.estimator.estimator import Estimator
    from tf_frame.estimator.model_function.spec import EstimatorSpec
    from tf_frame.estimator.run_config.run_config import RunConfig
    from tf_frame.plugin.load import load_network, load_preprocessing
    from tf_frame.runs.prediction.row_files import PredictionCsv, PredictionJsonLines

__version__ = "0.1.0"

# Name -> module below tf_frame, which is imported at the first use of the name.
_MODULES = {
    "Estimator": "estimator",
    "EstimatorSpec": "estimator",
    "PredictionCsv": "runs.prediction.row_files",
    "PredictionJsonLines": "runs.prediction.row_files",
    "RunConfig": "estimator",
    "load_network": "plugin.load",
    "load_preprocessing": "plugin.load",
}

__all__ = [
    "ClassMean",
    "ClassMetric",
    "Command",
    "Converter",
    "DataReport",
    "DataWarning",
    "Estimator",
    "EstimatorSpec",
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
    "PredictionCsv",
    "PredictionJsonLines",
    "Preprocessing",
    "RunConfig",
    "ScheduleContext",
    "ServingForm",
    "SplitReport",
    "Weights",
    "WeightsFile",
    "__version__",
    "export_format",
    "load_network",
    "load_preprocessing",
    "option",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
