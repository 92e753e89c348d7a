"""Makes the hooks of the chief: checkpoints, summaries, evaluations and logs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.cluster.agreement import Agreement
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.hooks.agreed_checkpoint import AgreedCheckpointHook, positions_of_others
from tf_frame.hooks.cadence import Either, Multiples
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.summary import SummaryHook, event_writer
from tf_frame.hooks.throughput import StepCounterHook, ThroughputHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.runs.training.hooks.savers import EvaluateSaved

# Over shorter intervals steps/s are noise, and fast models would fill the log.
_MIN_INTERVAL_SECS = 1.0


def hooks_of_chief(
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
        first_step = read_step(context.checkpoint)
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


def _end_updates(graph: TrainGraph, agreement: Agreement) -> Callable[[], None]:
    """Connects synchronous updates with the end of the job; returns what ends them."""
    for hook in graph.hooks:
        if isinstance(hook, SyncReplicasHook):
            hook.is_over = agreement.any_has_finished
            return hook.end_updates
    return lambda: None


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


def log_hooks(
    setup: TrainingSetup,
    graph: TrainGraph,
    context: RunContext,
    *,
    counts_examples: bool,
    times: StepTimes,
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
        times=times,
    )
