"""Train, evaluate, predict and export, as tf.estimator did, which TensorFlow dropped in 2.16.

    from tf_frame import estimator

    trained = estimator.Estimator(model_fn, model_dir="runs/first").train(input_fn, max_steps=1000)

The names of tf.estimator are here under their own names; code that was written
for tf.estimator imports `tf_frame_legacy.estimator` in its place. A name is
imported when it is first used, TensorFlow with it.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Estimator": "estimator",
    "EstimatorSpec": "model_function.spec",
    "ModeKeys": "model_function.spec",
    "RunConfig": "run_config.run_config",
    "WarmStartSettings": "warm_start.settings",
    "add_metrics": "evaluation.added_metrics",
    "TrainSpec": "train_and_eval.specs",
    "EvalSpec": "train_and_eval.specs",
    "train_and_evaluate": "train_and_eval.executor",
    "Exporter": "exporters",
    "FinalExporter": "exporters",
    "LatestExporter": "exporters",
    "BestExporter": "exporters",
    "InMemoryEvaluatorHook": "evaluation.in_memory_evaluator",
    "make_stop_at_checkpoint_step_hook": "train_and_eval.stop_at_checkpoint",
    "evaluate_repeatedly": "evaluation.run",
    "VocabInfo": "warm_start.settings",
    "make_early_stopping_hook": "early_stopping",
    "stop_if_higher_hook": "early_stopping",
    "stop_if_lower_hook": "early_stopping",
    "stop_if_no_decrease_hook": "early_stopping",
    "stop_if_no_increase_hook": "early_stopping",
}
_SUBMODULES = ("export",)

__all__ = sorted([*_HOMES, *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
