"""The names of `tf.estimator`; scripts that were written for it change one import.

    from tf_frame_legacy import estimator   # was: from tensorflow import estimator

    estimator.Estimator(model_fn, "runs/first", estimator.RunConfig(save_checkpoints_steps=100))

Arguments, defaults, errors and return values are the same as in tensorflow_estimator 1.15 to 2.15;
README.md lists the differences.
"""

from __future__ import annotations

import importlib
from typing import Any

_TENSORFLOW = "tensorflow.compat.v1"

_PACKAGE_NAMES = {
    "tf_frame.estimator": "BestExporter EstimatorSpec EvalSpec Exporter FinalExporter "
    "LatestExporter ModeKeys RunConfig TrainSpec VocabInfo WarmStartSettings add_metrics "
    "train_and_evaluate",
    "tf_frame.hooks": "CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook "
    "LoggingTensorHook NanTensorHook ProfilerHook StepCounterHook StopAtStepHook SummarySaverHook",
    f"{_TENSORFLOW}.train": "CheckpointSaverListener NanLossDuringTrainingError SecondOrStepTimer "
    "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
    f"{__name__}.canned.baseline": "BaselineClassifier BaselineEstimator BaselineRegressor",
    f"{__name__}.canned.dnn": "DNNClassifier DNNEstimator DNNRegressor",
    f"{__name__}.canned.dnn_linear_combined": "DNNLinearCombinedClassifier "
    "DNNLinearCombinedEstimator DNNLinearCombinedRegressor",
    f"{__name__}.canned.linear": "LinearClassifier LinearEstimator LinearRegressor",
    f"{__name__}.canned.parsing_utils": "classifier_parse_example_spec "
    "regressor_parse_example_spec",
    f"{__name__}.estimator": "Estimator",
    f"{__name__}.heads": "BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead "
    "MultiLabelHead PoissonRegressionHead RegressionHead",
}
# The module of each name; modules load when a name is first used.
_MODULES = {name: module for module, names in _PACKAGE_NAMES.items() for name in names.split()}
_SUBMODULES = ("experimental", "export", "inputs")
__all__ = sorted([*_MODULES, *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    # tensorflow.compat.v1.train is an attribute; importlib cannot import it.
    package, _, last = _MODULES[name].rpartition(".")
    if package == _TENSORFLOW:
        return getattr(getattr(importlib.import_module(package), last), name)
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
