"""Hooks of the training session, one per file.

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
    "CheckpointSaverHook": "checkpoint_saver",
    "GlobalStepWaiterHook": "global_step_waiter",
    "LoggingTensorHook": "logging",
    "NanTensorHook": "nan_guard",
    "ProfilerHook": "timeline",
    "StepCounterHook": "throughput",
    "StopAtStepHook": "stop",
    "SummarySaverHook": "summary",
    # tf-frame's own.
    "CheckpointHook": "checkpoint",
    "EvaluateHook": "evaluate",
    "FeedHook": "by_name.feed",
    "FinalValuesHook": "logging",
    "GarbageCollectionHook": "by_name.garbage_collection",
    "HeartbeatHook": "by_name.heartbeat",
    "LoggingHook": "logging",
    "NanGuardHook": "nan_guard",
    "ProfileHook": "profile",
    "ProgressHook": "progress",
    "ResourceUseHook": "by_name.resource_use",
    "SlowStepHook": "by_name.slow_step",
    "StopOnSignalHook": "stop",
    "SummaryHook": "summary",
    "ThroughputHook": "throughput",
    "TimelineHook": "timeline",
    "stop_if_higher": "by_name.early_stopping",
    "stop_if_lower": "by_name.early_stopping",
    "stop_if_no_decrease": "by_name.early_stopping",
    "stop_if_no_increase": "by_name.early_stopping",
    "stop_if_not_better": "by_name.early_stopping",
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
