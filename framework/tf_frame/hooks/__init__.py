"""Hooks of the training session: in `stock` those of TensorFlow, in `by_name` those of `--hook`.

    from tf_frame.hooks import Cadence, Hook, LoggingTensorHook

Hooks with names of `tf.compat.v1.train` have the arguments and results of
TensorFlow's hooks, but only run at the steps that they need: TensorFlow calls its
hooks before and after every step, which makes short steps slower.
"""

from __future__ import annotations

import importlib
from typing import Any

# Imported on first use, since `hooks.by_name.plugins` must not import TensorFlow.
_MODULES = {
    "Cadence": "cadence",
    "Hook": "base",
    "Phase": "base",
    # The names of tf.compat.v1.train.
    "CheckpointSaverHook": "stock.checkpoint_saver",
    "GlobalStepWaiterHook": "stock.global_step_waiter",
    "LoggingTensorHook": "stock.logging_tensor",
    "NanTensorHook": "stock.nan_tensor",
    "ProfilerHook": "stock.profiler",
    "StepCounterHook": "stock.step_counter",
    "StopAtStepHook": "stock.stop_at_step",
    "SummarySaverHook": "stock.summary_saver",
    # Hooks of run options.
    "CheckpointHook": "checkpoint",
    "DataSheetHook": "data_sheet",
    "EvaluateHook": "evaluate",
    "LoggingHook": "logging",
    "NanGuardHook": "nan_guard",
    "ProfileHook": "profile",
    "ProgressHook": "progress",
    "StopOnSignalHook": "stop_on_signal",
    "SummaryHook": "summary",
    "ThroughputHook": "throughput",
    "TimelineHook": "timeline",
    # Hooks of `--hook NAME`.
    "FeedHook": "by_name.feed",
    "FinalValuesHook": "by_name.final_values",
    "GarbageCollectionHook": "by_name.garbage_collection",
    "HeartbeatHook": "by_name.heartbeat",
    "ResourceUseHook": "by_name.resource_use",
    "SlowStepHook": "by_name.slow_step",
    **{
        f"stop_if_{condition}": "by_name.early_stopping"
        for condition in ("higher", "lower", "no_decrease", "no_increase", "not_better")
    },
}
# TensorFlow's own classes, which only run at the steps that they need.
_STOCK = ("FeedFnHook", "FinalOpsHook")
__all__ = sorted([*_MODULES, *_STOCK])


def __getattr__(name: str) -> Any:
    if name in _STOCK:
        return getattr(importlib.import_module("tensorflow").compat.v1.train, name)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
