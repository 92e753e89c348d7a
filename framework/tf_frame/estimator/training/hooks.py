"""Makes the hooks of a training from the run options, from `--hook` and from the model.

Here it is decided which task of a cluster does what: only the chief saves, logs, evaluates and
writes summaries, as all tasks share a folder.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import step_of
from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.cluster.key_value_store import NO_NUMBER
from tf_frame.cluster.server import send_to_ps
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment
from tf_frame.errors import ConfigError, DataError
from tf_frame.estimator.model_function.input_fn import InputFn
from tf_frame.estimator.training.context import RunContext
from tf_frame.estimator.training.setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.graph.update.all_reduce import worker_group
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.hooks.agreed_checkpoint import AgreedCheckpointHook, positions_of_others
from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Either, Multiples
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.checkpoint_saver import CheckpointSaverHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.global_step_waiter import GlobalStepWaiterHook
from tf_frame.hooks.input_position import InputPositionHook, RestoredCheckpoint
from tf_frame.hooks.job_member import BroadcastHook, JobMemberHook, OpenSessionHook, WatchingHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.status import StatusHook
from tf_frame.hooks.stop import StopAtStepHook, StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook, event_writer
from tf_frame.hooks.throughput import StepCounterHook, ThroughputHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.hooks.training_clock import pause
from tf_frame.plugin import HookContext
from tf_frame.session.job_member import JobMember

_LOG = logging.getLogger("tf_frame")

# Over shorter intervals steps/s are noise, and fast models would fill the log.
_MIN_INTERVAL_SECS = 1.0
_STATUS_SECS, _STATUS_ALONE_SECS = 2.0, 10.0


def make_hooks(
    setup: TrainingSetup,
    context: RunContext,
    graph: TrainGraph,
    *,
    source: Any,
    restored: RestoredCheckpoint,
    member: JobMember | None = None,
) -> tuple[list[Any], ProgressHook]:
    """Makes the hooks of a worker, in the training graph, before its session.

    Args:
      setup, context: as for `train`.
      graph: the training graph.
      source: the input.
      restored: filled when a session is made.
      member: this worker in its job; None: a process that trains alone.

    Returns:
      The hooks of the options, the model, plugins and a script; and that one of them which
      measures the rates of the training.

    Raises:
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config, observer = setup.config, context.observer
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
    joint = _member(setup, context, graph, restored, member)
    agreement = member.agreement if member else None
    hooks: list[Any] = [*_delay(setup, context), *joint, *resume, guard, *foreign]
    hooks += [
        *graph.hooks,
        *_profiles(setup, context.cluster, agreement),
    ]
    if is_chief:
        hooks += _hooks_of_chief(
            setup,
            context,
            graph,
            guard,
            listeners,
            saves=saves,
            agreement=agreement,
        )
        counts_examples = not (isinstance(source, InputFn) or callable(source))
        hooks += _log(setup, graph, context, counts_examples=counts_examples)
    hooks += [
        *(each for each in named if each not in listeners),
        progress,
        StopAtStepHook(last_step=config.max_steps),
        *_status(setup, context.cluster, graph),
    ]
    if not any(isinstance(each, (AgreedCheckpointHook, JobMemberHook)) for each in hooks):
        hooks.append(StopOnSignalHook(lambda: observer.interrupts.received))
    return hooks, progress


def _delay(setup: TrainingSetup, context: RunContext) -> Iterator[Any]:
    """The hook by which a worker begins later, before the one by which it joins the others."""
    config = setup.config
    if config.startup_delay_steps and not context.cluster.is_chief:
        yield GlobalStepWaiterHook(
            config.task * config.startup_delay_steps,
            give_up=lambda: context.observer.interrupts.received,
            log=_LOG.info,
        )


def _member(
    setup: TrainingSetup,
    context: RunContext,
    graph: TrainGraph,
    restored: RestoredCheckpoint,
    member: JobMember | None,
) -> Iterator[Any]:
    """The hooks by which a worker takes part in its job."""
    if member is None or member.agreement is None:
        return
    interrupts = context.observer.interrupts
    workers = worker_group(make_deployment(setup.config, context.cluster))
    agreed_save = None
    if workers is not None:
        yield BroadcastHook(workers.broadcast(tf.global_variables()), member.check_error)
        is_chief, nothing = context.cluster.is_chief, tf.constant(NO_NUMBER, tf.int64)
        own = member.agreement.requested_save() if is_chief else nothing
        agreed_save = workers.agreed([own])[0]
    if context.cluster.is_chief:
        if agreed_save is None:
            yield OpenSessionHook(member.agreement)
        else:
            yield WatchingHook(tf.cast(agreed_save, tf.float32))
        return
    yield JobMemberHook(
        member.agreement,
        agreed_save=agreed_save,
        position=graph.input_position,
        restored=restored,
        model_dir=setup.model_dir,
        max_steps=setup.config.max_steps,
        lockstep=setup.config.makes_steps_together,
        interrupted=lambda: interrupts.received,
        report=context.observer.report,
    )


def _status(setup: TrainingSetup, cluster: Cluster, graph: TrainGraph) -> Iterator[Any]:
    """The hook that says what this task does; an `Estimator` alone has no status."""
    if setup.model is None and not cluster.has_several_tasks:
        return
    yield StatusHook(
        setup.model_dir,
        task=cluster.task_name,
        max_steps=setup.config.max_steps,
        own_steps=graph.own_steps,
        every_secs=_STATUS_SECS if cluster.has_several_tasks else _STATUS_ALONE_SECS,
    )


def _end_updates(graph: TrainGraph, agreement: Agreement) -> Callable[[], None]:
    """Connects synchronous updates with the end of the job; returns what ends them."""
    for hook in graph.hooks:
        if isinstance(hook, SyncReplicasHook):
            hook.is_over = agreement.any_has_finished
            return hook.end_updates
    return lambda: None


def _hooks_of_chief(
    setup: TrainingSetup,
    context: RunContext,
    graph: TrainGraph,
    guard: NanGuardHook,
    listeners: Sequence[Any],
    *,
    saves: bool,
    agreement: Agreement | None,
) -> list[Any]:
    """Hooks that save, write summaries and evaluate; `listeners` are called at each save."""
    config, listeners = setup.config, list(listeners)
    if setup.mode == TRAIN_AND_EVALUATE and context.evaluate_step is not None:
        first_step = step_of(context.checkpoint)
        listeners.append(EvaluateSaved(context.evaluate_step, first_step, config.max_steps))
    listeners += context.listeners
    checkpoints = (
        _checkpoints(setup, context, graph, guard, listeners, agreement) if saves else None
    )
    hooks: list[Any] = [checkpoints] if checkpoints else []
    hooks += _summaries_and_timelines(setup, graph, context.observer.report)
    if config.eval_every_n_steps:
        hooks.append(_evaluation(config, context, guard, checkpoints))
    if isinstance(checkpoints, AgreedCheckpointHook):
        checkpoints.agree()
    return hooks


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
        first_step=step_of(context.checkpoint),
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


def _profiles(setup: TrainingSetup, cluster: Cluster, agreement: Agreement | None) -> Iterator[Any]:
    config = setup.config

    def tell_ps(label: str, begins: bool) -> None:
        if agreement is not None and cluster.is_chief and config.profile_all_workers:
            command = {"label": label, "begins": begins, "began": agreement.session_time()}
            send_to_ps(cluster, json.dumps(command).encode())

    asked = config.profile_at_step or config.profile_every_n_steps
    if asked and (cluster.is_chief or config.profile_all_workers):
        yield ProfileHook(
            setup.model_dir,
            at_steps=config.profile_at_step,
            num_steps=config.profile_num_steps,
            every_steps=config.profile_every_n_steps or None,
            task=config.task,
            is_chief=cluster.is_chief,
            began=agreement.session_time if agreement else None,
            tell=tell_ps,
        )


def _checkpoints(
    setup: TrainingSetup,
    context: RunContext,
    graph: TrainGraph,
    guard: NanGuardHook,
    listeners: Sequence[Any],
    agreement: Agreement | None,
) -> CheckpointHook:
    config, position = setup.config, graph.input_position
    kind: Callable[..., CheckpointHook] = CheckpointHook
    extras = dict(position.tensors) if position else None
    if agreement is not None:
        interrupts = context.observer.interrupts
        kind = functools.partial(
            AgreedCheckpointHook,
            agreement=agreement,
            last_step=config.max_steps,
            interrupted=lambda: interrupts.received,
            end_updates=_end_updates(graph, agreement),
        )
        extras = extras and {**extras, **positions_of_others(agreement, position)}
    return kind(
        setup.model_dir,
        graph.scaffold,
        every_steps=config.save_checkpoint_steps,
        every_secs=config.save_checkpoint_secs,
        extras=extras,
        listeners=listeners,
        max_to_keep=config.max_to_keep,
        keep_every_n_hours=config.keep_checkpoint_every_n_hours,
        asynchronous=config.async_checkpoint,
        report=context.observer.report,
        unless=lambda: guard.diverged,
    )


def _summaries_and_timelines(
    setup: TrainingSetup, graph: TrainGraph, report: Callable[[str], None]
) -> Iterator[Any]:
    config, model_dir = setup.config, setup.model_dir
    if config.writes_summaries and graph.summary_op is not None:
        yield SummaryHook(
            model_dir,
            graph.summary_op,
            every_steps=config.save_summaries_steps or None,
            every_secs=config.save_summaries_secs,
            report=report,
        )
    if config.trace_every_n_steps or config.trace_at_step:
        yield TimelineHook(
            model_dir,
            every_steps=config.trace_every_n_steps or None,
            at_steps=config.trace_at_step,
            gzip=config.trace_gzip,
            memory=config.trace_memory,
            dataflow=config.trace_dataflow,
            writer=event_writer(model_dir, report=report),
        )


def _evaluation(
    config: RunOptions,
    context: RunContext,
    guard: NanGuardHook,
    checkpoints: CheckpointHook | None,
) -> EvaluateHook:
    """Evaluates at certain steps, which the checkpoint hook saves for the purpose."""
    steps, evaluate_step = config.eval_every_n_steps, context.evaluate_step
    if evaluate_step is None or checkpoints is None:
        raise ConfigError(
            f"eval_every_n_steps {steps} is for tf-frame run, which knows its evaluation data and "
            "saves checkpoints; use train_and_evaluate"
        )
    checkpoints.cadence = Either(checkpoints.cadence, Multiples(steps))

    def evaluate(step: int) -> Mapping[str, float]:
        checkpoints.wait()
        return evaluate_step(step)

    last_step = config.max_steps if config.evaluate else None
    return EvaluateHook(
        evaluate, every_steps=steps, last_step=last_step, unless=lambda: guard.diverged
    )


def _log(
    setup: TrainingSetup, graph: TrainGraph, context: RunContext, *, counts_examples: bool
) -> Iterator[Any]:
    """Hooks that log loss, learning rate and steps/s; examples/s only if they are known."""
    every, last = setup.config.log_every_n_steps, setup.config.max_steps
    if not every:
        return
    tensors = dict(graph.losses)
    if graph.learning_rate is not None:
        tensors["learning_rate"] = graph.learning_rate
    yield LoggingHook(tensors, every_steps=every, last_step=last, metrics=context.metrics)
    if not counts_examples:
        yield StepCounterHook(every_n_steps=every, output_dir=setup.model_dir)
        return
    yield ThroughputHook(
        examples_per_step=setup.examples_per_step(),
        every_steps=every,
        last_step=last,
        min_secs=_MIN_INTERVAL_SECS,
        writer=event_writer(setup.model_dir, report=context.observer.report),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class EvaluateSaved(tf.train.CheckpointSaverListener):
    """Evaluates each checkpoint between the first and the last one of a run.

    The checkpoint that the run begins with has been evaluated before, and the last
    one is evaluated when training has ended. Evaluations count in no rate of steps.
    """

    evaluate: Callable[[int], Mapping[str, float]]
    first_step: int
    last_step: int

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self.first_step < global_step_value < self.last_step:
            with pause():
                self.evaluate(global_step_value)


def saver_hooks(hooks: Sequence[Any]) -> list[Any]:
    """The hooks that save checkpoints; where a script brings one, tf-frame does not save.

    As in tf.estimator (estimator.py, `_train_with_estimator_spec`), a
    `CheckpointSaverHook` among the hooks of a script takes the place of the
    estimator's own, and the first of them gets the saving listeners.
    """
    classes = (tf.train.CheckpointSaverHook, CheckpointSaverHook)
    return [hook for hook in hooks if isinstance(hook, classes)]


def add_listeners(savers: Sequence[Any], listeners: Sequence[Any], *, saves: bool) -> None:
    """Gives listeners to the first of `saver_hooks`, once each, unless tf-frame's own hook saves.

    Raises:
      ValueError: there is no hook that saves, so no listener would be called.
    """
    if not listeners or saves:
        return
    if not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    # No public way leads to the listeners of TensorFlow's hook once it is made.
    known = savers[0]._listeners
    known.extend(listener for listener in listeners if listener not in known)
