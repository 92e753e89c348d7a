"""Training, evaluation, prediction and export as in tf.estimator, which TensorFlow 2.16 dropped.

    from tf_frame import estimator

    trained = estimator.Estimator(model_fn, model_dir="runs/first").train(input_fn, max_steps=1000)

Code that was written for tf.estimator imports `tf_frame_legacy.estimator` instead. A name, and
TensorFlow with it, is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

# Name -> module below tf_frame.
_HOMES = {
    "Estimator": "estimator.estimator",
    "EstimatorSpec": "estimator.model_function.spec",
    "ModeKeys": "estimator.model_function.spec",
    "RunConfig": "estimator.run_config.run_config",
    "WarmStartSettings": "runs.warm_start.settings",
    "add_metrics": "estimator.added_metrics",
    "TrainSpec": "estimator.train_and_eval.specs",
    "EvalSpec": "estimator.train_and_eval.specs",
    "train_and_evaluate": "estimator.train_and_eval.executor",
    "Exporter": "estimator.exporters",
    "FinalExporter": "estimator.exporters",
    "LatestExporter": "estimator.exporters",
    "BestExporter": "estimator.exporters",
    "InMemoryEvaluatorHook": "estimator.in_memory_evaluator",
    "make_stop_at_checkpoint_step_hook": "estimator.train_and_eval.stop_at_checkpoint",
    "evaluate_repeatedly": "runs.evaluation.evaluate",
    "VocabInfo": "runs.warm_start.settings",
    "make_early_stopping_hook": "estimator.early_stopping",
    "stop_if_higher_hook": "estimator.early_stopping",
    "stop_if_lower_hook": "estimator.early_stopping",
    "stop_if_no_decrease_hook": "estimator.early_stopping",
    "stop_if_no_increase_hook": "estimator.early_stopping",
}
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
