"""Makes the hooks of a training: from the run options, `--hook`, the model and a script.

All tasks of a job share a folder, so only the chief saves, logs, evaluates and writes summaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame.hooks.base import Hook
from tf_frame.hooks.input_position import InputPositionHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.runs.training.hooks.checkpoints import checkpoint_hooks, tf_frame_saves
from tf_frame.runs.training.hooks.job import (
    delay_hooks,
    member_hooks,
    signal_hooks,
    status_hooks,
    sync_replicas_hook,
)
from tf_frame.runs.training.hooks.logs import log_hooks, progress_hook, summary_hooks
from tf_frame.runs.training.hooks.profiles import profile_hooks
from tf_frame.runs.training.parts import TrainingParts


def make_hooks(parts: TrainingParts) -> tuple[list[Any], ProgressHook]:
    """Makes the hooks of a worker, in the training graph, before its session.

    Returns:
      All hooks, and the one of them that measures the rates of the training.

    Raises:
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config, graph, is_chief = parts.config, parts.graph, parts.cluster.is_chief
    context = parts.hook_context()
    progress = progress_hook(parts)
    named = parts.setup.make_hooks(context)
    listeners = [hook for hook in named if isinstance(hook, tf.train.CheckpointSaverListener)]
    named_hooks = [hook for hook in named if hook not in listeners]
    script_hooks = [*(graph.chief_hooks if is_chief else ()), *parts.context.hooks]
    for hook in (*script_hooks, *graph.hooks, *named_hooks):
        if isinstance(hook, Hook):
            hook.join_run(context)
    saves = tf_frame_saves(parts, [*script_hooks, *graph.hooks])
    guard = NanGuardHook(graph.train_op, on_nan=config.on_nan)
    sync = sync_replicas_hook(parts)
    hooks = [
        *delay_hooks(parts),
        *member_hooks(parts),
        *_resume_hooks(parts),
        guard,
        *script_hooks,
        *([sync] if sync else []),
        *graph.hooks,
        *profile_hooks(parts),
    ]
    if is_chief:
        hooks += checkpoint_hooks(parts, listeners, guard=guard, sync=sync, saves=saves)
        hooks += summary_hooks(parts)
        hooks += log_hooks(parts)
    hooks += [
        *named_hooks,
        progress,
        StopAtStepHook(last_step=config.max_steps),
        *status_hooks(parts),
        *signal_hooks(parts, saves=saves),
    ]
    return hooks, progress


def _resume_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the hook with which a resumed run ends like one that was never stopped."""
    config, graph = parts.config, parts.graph
    if graph.input_position is None:
        return
    can_resume = parts.context.observer.can_resume
    if graph.not_repeatable and can_resume:
        _refuse_or_warn(parts)
    yield InputPositionHook(
        graph.input_position,
        restored=parts.restored,
        allow_inexact=config.allow_inexact_resume or not config.makes_steps_together,
        report=parts.report if can_resume else lambda line: None,
        runs_per_step=parts.runs_per_step(),
        strict=config.strict,
        interrupted=parts.interrupted,
        # An input need not inherit from `Input`.
        exact=bool(getattr(parts.source, "exact_resume", True)),
    )


def _refuse_or_warn(parts: TrainingParts) -> None:
    reasons = "\n  ".join(parts.graph.not_repeatable)
    message = f"a resumed run would not end like one that was never stopped:\n  {reasons}"
    if not parts.config.allow_inexact_resume:
        raise DataError(
            f"{message}\ndraw random numbers outside of loops and functions, or with stateless "
            "ops (tf.random.stateless_uniform); or give --allow_inexact_resume"
        )
    parts.report(f"warning: {message}")
