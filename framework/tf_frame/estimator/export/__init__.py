"""Outputs and receivers of exported models: the namespace `tf_frame.estimator.export`.

from tf_frame.estimator import export

export.build_parsing_serving_input_receiver_fn({"x": tf.io.FixedLenFeature([3], tf.float32)})
"""

from __future__ import annotations

import importlib
from typing import Any

# Loaded on first use: model functions need the outputs, and the receivers need model functions.
_MODULES = {
    "ClassificationOutput": "outputs",
    "EvalOutput": "supervised_output",
    "ExportOutput": "outputs",
    "PredictOutput": "outputs",
    "RegressionOutput": "outputs",
    "ServingInputReceiver": "receivers",
    "SupervisedInputReceiver": "receivers",
    "TensorServingInputReceiver": "receivers",
    "TrainOutput": "supervised_output",
    "UnsupervisedInputReceiver": "receivers",
    "build_parsing_serving_input_receiver_fn": "receiver_fns",
    "build_raw_serving_input_receiver_fn": "receiver_fns",
    "build_raw_supervised_input_receiver_fn": "receiver_fns",
    "build_supervised_input_receiver_fn_from_input_fn": "receiver_fns",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
