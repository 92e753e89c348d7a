"""Export of trained models: the names of `tf.estimator.export`, for code written for it.

from tf_frame.estimator import export

export.build_parsing_serving_input_receiver_fn({"x": tf.io.FixedLenFeature([3], tf.float32)})
"""

from __future__ import annotations

import importlib
from typing import Any

# Imported on first use: the table of formats, in this package, must not need TensorFlow.
_MODULES = {
    "ClassificationOutput": "outputs",
    "EvalOutput": "outputs",
    "ExportOutput": "outputs",
    "PredictOutput": "outputs",
    "RegressionOutput": "outputs",
    "ServingInputReceiver": "receivers",
    "SupervisedInputReceiver": "receivers",
    "TensorServingInputReceiver": "receivers",
    "TrainOutput": "outputs",
    "UnsupervisedInputReceiver": "receivers",
    "build_parsing_serving_input_receiver_fn": "receivers",
    "build_raw_serving_input_receiver_fn": "receivers",
    "build_raw_supervised_input_receiver_fn": "receivers",
    "build_supervised_input_receiver_fn_from_input_fn": "receivers",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(importlib.import_module(f"tf_frame.runs.export.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
