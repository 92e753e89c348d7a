"""Makes the hooks of a training from the run options, from `--hook` and from the model.

Here it is decided which task of a cluster does what: only the chief saves, logs, evaluates and
writes summaries, as all tasks share a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.agreed_checkpoint import AgreedCheckpointHook
from tf_frame.hooks.base import Hook
from tf_frame.hooks.input_position import InputPositionHook, RestoredCheckpoint
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stop import StopAtStepHook, StopOnSignalHook
from tf_frame.hooks.worker import JobMemberHook
from tf_frame.plugin import HookContext
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.hooks.chief import hooks_of_chief, log_hooks
from tf_frame.runs.training.hooks.job import (
    delay_hooks,
    member_hooks,
    profile_hooks,
    status_hooks,
)
from tf_frame.runs.training.hooks.savers import add_listeners, saver_hooks
from tf_frame.session.job_member import JobMember


def make_hooks(
    setup: TrainingSetup,
    context: RunContext,
    graph: TrainGraph,
    *,
    source: Any,
    restored: RestoredCheckpoint,
    member: JobMember | None = None,
    times: StepTimes | None = None,
) -> tuple[list[Any], ProgressHook]:
    """Makes the hooks of a worker, in the training graph, before its session.

    Args:
      setup, context: as for `train`.
      graph: the training graph.
      source: the input.
      restored: filled when a session is made.
      member: this worker in its job; None: a process that trains alone.
      times: of the loop that will run the hooks.

    Returns:
      The hooks of the options, the model, plugins and a script; and that one of them which
      measures the rates of the training.

    Raises:
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config, observer = setup.config, context.observer
    times = StepTimes() if times is None else times
    is_chief = context.cluster.is_chief
    progress = ProgressHook(
        graph.train_op,
        loss_name=list(graph.losses)[-1],
        last_step=config.max_steps,
        examples_per_step=setup.examples_per_step(),
        every_steps=config.log_every_n_steps if observer.shows_progress else 0,
    )
    named = setup.make_hooks(_hook_context(setup, context, graph))
    listeners = [each for each in named if isinstance(each, tf.train.CheckpointSaverListener)]
    foreign = [*(graph.chief_hooks if is_chief else ()), *context.hooks]
    savers = saver_hooks([*foreign, *graph.hooks])
    saves = context.saves_checkpoints and not savers
    add_listeners(savers, context.listeners, saves=saves)
    for hook in graph.hooks:
        if isinstance(hook, Hook):
            hook.report = observer.report
    guard = NanGuardHook(graph.train_op, on_nan=config.on_nan)
    exact = bool(getattr(source, "exact_resume", True))  # An input need not inherit from `Input`.
    resume = _exact_resume(config, graph, restored, observer.report, exact=exact)
    joint = member_hooks(setup, context, graph, restored, member)
    agreement = member.agreement if member else None
    hooks: list[Any] = [*delay_hooks(setup, context), *joint, *resume, guard, *foreign]
    hooks += [
        *graph.hooks,
        *profile_hooks(setup, context.cluster, agreement, graph, times, context.observer.report),
    ]
    if is_chief:
        hooks += hooks_of_chief(
            setup,
            context,
            graph,
            guard,
            listeners,
            saves=saves,
            agreement=agreement,
        )
        # An input need not inherit from `Input`.
        counts_examples = getattr(source, "counts_examples", True)
        hooks += log_hooks(setup, graph, context, counts_examples=counts_examples, times=times)
    hooks += [
        *(each for each in named if each not in listeners),
        progress,
        StopAtStepHook(last_step=config.max_steps),
        *status_hooks(setup, context.cluster, graph),
    ]
    if not any(isinstance(each, (AgreedCheckpointHook, JobMemberHook)) for each in hooks):
        hooks.append(StopOnSignalHook(lambda: observer.interrupts.received))
    return hooks, progress


def _hook_context(setup: TrainingSetup, context: RunContext, graph: TrainGraph) -> HookContext:
    return HookContext(
        model_dir=setup.model_dir,
        is_chief=context.cluster.is_chief,
        task=setup.config.task,
        max_steps=setup.config.max_steps,
        examples_per_step=setup.examples_per_step(),
        graph=graph,
        report=context.observer.report,
        eval_every_n_steps=setup.config.eval_every_n_steps,
        first_step=read_step(context.checkpoint),
        metrics=context.metrics,
    )


def _exact_resume(
    config: RunOptions,
    graph: TrainGraph,
    restored: RestoredCheckpoint,
    report: Callable[[str], None],
    *,
    exact: bool,
) -> Iterator[Any]:
    """The hook that makes a resumed run end like one that was never stopped.

    Args:
      config, graph, restored, report: of the run.
      exact: whether the input must resume with the next batch.
    """
    if graph.input_position is None:
        return
    if graph.not_repeatable:
        _refuse_or_warn(config, graph, report)
    yield InputPositionHook(
        graph.input_position,
        restored=restored,
        allow_inexact=config.allow_inexact_resume or not config.makes_steps_together,
        report=report,
        exact=exact,
    )


def _refuse_or_warn(config: RunOptions, graph: TrainGraph, report: Callable[[str], None]) -> None:
    reasons = "\n  ".join(graph.not_repeatable)
    what = f"a resumed run would not end like one that was never stopped:\n  {reasons}"
    if not config.allow_inexact_resume:
        raise DataError(
            f"{what}\ndraw random numbers outside of loops and functions, or with stateless ops "
            "(tf.random.stateless_uniform); or give --allow_inexact_resume"
        )
    report(f"warning: {what}")
