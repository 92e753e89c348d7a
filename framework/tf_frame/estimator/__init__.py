"""Training, evaluation, prediction and export as in tf.estimator, which TensorFlow 2.16 dropped.

    from tf_frame import estimator

    trained = estimator.Estimator(model_fn, model_dir="runs/first").train(input_fn, max_steps=1000)

Code that was written for tf.estimator imports `tf_frame_legacy.estimator` instead. The first
use of a name imports its module and TensorFlow.
"""

from __future__ import annotations

import importlib
from typing import Any

# Module below tf_frame -> its names.
_NAMES = {
    "estimator.added_metrics": "add_metrics",
    "estimator.early_stopping": (
        "make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook "
        "stop_if_no_decrease_hook stop_if_no_increase_hook"
    ),
    "estimator.estimator": "Estimator",
    "estimator.exporters": "BestExporter Exporter FinalExporter LatestExporter",
    "estimator.in_memory_evaluator": "InMemoryEvaluatorHook",
    "estimator.model_function.spec": "EstimatorSpec ModeKeys",
    "estimator.run_config.run_config": "RunConfig",
    "estimator.train_and_eval.executor": "train_and_evaluate",
    "estimator.train_and_eval.specs": "EvalSpec TrainSpec",
    "estimator.train_and_eval.stop_at_checkpoint": "make_stop_at_checkpoint_step_hook",
    "runs.evaluation.evaluate": "evaluate_repeatedly",
    "runs.warm_start.settings": "VocabInfo WarmStartSettings",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
_SUBMODULES = ("export",)

__all__ = sorted([*_HOMES, *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"tf_frame.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
