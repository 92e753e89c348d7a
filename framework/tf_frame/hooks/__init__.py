"""Hooks of the training session, one a file.

    from tf_frame.hooks import Cadence, Hook, LoggingTensorHook

Under the names of `tf.compat.v1.train` are hooks that take the same arguments
as TensorFlow's and do the same, but say which steps they want.
"""

from __future__ import annotations

import importlib
from typing import Any

# Loaded when they are asked for: the modules that options come from must not import TensorFlow.
_MODULES = {
    "Cadence": "cadence",
    "Hook": "base",
    "Phase": "base",
    # The names of tf.compat.v1.train.
    "CheckpointSaverHook": "stock.checkpoint_saver",
    "FeedFnHook": "stock.feed_fn",
    "FinalOpsHook": "stock.final_ops",
    "GlobalStepWaiterHook": "stock.global_step_waiter",
    "LoggingTensorHook": "stock.logging_tensor",
    "NanTensorHook": "stock.nan_tensor",
    "ProfilerHook": "stock.profiler",
    "StepCounterHook": "stock.step_counter",
    "StopAtStepHook": "stock.stop_at_step",
    "SummarySaverHook": "stock.summary_saver",
    # Ours.
    "CheckpointHook": "checkpoint",
    "EvaluateHook": "evaluate",
    "FinalValuesHook": "final_values",
    "GarbageCollectionHook": "garbage_collection",
    "HeartbeatHook": "heartbeat",
    "LoggingHook": "logging",
    "NanGuardHook": "nan_guard",
    "ProfileHook": "profile",
    "ProgressHook": "progress",
    "ResourceUseHook": "resource_use",
    "SessionFeedHook": "session_feed",
    "SlowStepHook": "slow_step",
    "StartupDelayHook": "startup_delay",
    "StopOnSignalHook": "stop_on_signal",
    "SummaryHook": "summary",
    "ThroughputHook": "throughput",
    "TimelineHook": "timeline",
    "stop_if_higher": "early_stopping",
    "stop_if_lower": "early_stopping",
    "stop_if_no_decrease": "early_stopping",
    "stop_if_no_increase": "early_stopping",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
