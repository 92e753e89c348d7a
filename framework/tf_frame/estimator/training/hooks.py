"""The hooks of a run: those that its options ask for, and those that it names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, DataError
from tf_frame.estimator.training.saver_hooks import add_listeners, saver_hooks
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Either, Multiples
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.input_position import InputPositionHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.startup_delay import StartupDelayHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook, event_writer
from tf_frame.hooks.throughput import ThroughputHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.plugin import HookContext

# The rate of a few thousandths of a second says little, and a hundred lines a second less.
_MIN_INTERVAL_SECS = 1.0


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What the hooks of a run need to know beside the recipe and its graph.

    Attributes:
      cluster: which worker this is.
      stopped: whether a signal has arrived.
      restored_from: the checkpoint that the session was restored from.
      evaluate: evaluates the checkpoint of a step; returns metric -> value. None
        where nothing evaluates.
      report: takes a line for the user.
      diverged: whether the variables are no longer to be saved.
      shows_progress: whether there is a bar, or lines of progress.
      hooks, listeners: those of a script, beside those of the options.
      saves: whether checkpoints are saved.
      counts_examples: whether it is known how many examples a step has.
    """

    cluster: Cluster
    stopped: Callable[[], object]
    restored_from: Callable[[], str | None]
    evaluate: Callable[[int], Mapping[str, float]] | None
    report: Callable[[str], None]
    diverged: Callable[[], bool] = lambda: False
    shows_progress: bool = True
    hooks: Sequence[Any] = ()
    listeners: Sequence[Any] = ()
    saves: bool = True
    counts_examples: bool = True


@dataclasses.dataclass(frozen=True)
class RunHooks:
    """The hooks of a run.

    Attributes:
      hooks: all of them.
      progress: the one that has the figures of the run.
    """

    hooks: list[Any]
    progress: ProgressHook


def run_hooks(setup: TrainingSetup, graph: TrainGraph, around: Surroundings) -> RunHooks:
    """Makes the hooks of a worker, in the training graph, before its session.

    Raises:
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config = setup.config
    progress = ProgressHook(
        graph.train_op,
        last_step=config.max_steps,
        examples_per_step=_examples_per_step(setup),
        every_steps=config.log_every_n_steps if around.shows_progress else 0,
    )
    named = setup.make_hooks(_context(setup, graph, around))
    listeners = [each for each in named if isinstance(each, tf.train.CheckpointSaverListener)]
    is_chief = around.cluster.is_chief
    foreign = [*(graph.chief_hooks if is_chief else ()), *around.hooks]
    savers = saver_hooks([*foreign, *graph.hooks])
    around = dataclasses.replace(around, saves=around.saves and not savers)
    add_listeners(savers, around.listeners, saves=around.saves)
    for hook in graph.hooks:
        if isinstance(hook, Hook):
            hook.report = around.report
    guard = NanGuardHook(graph.train_op, on_nan=config.on_nan)
    around = dataclasses.replace(around, diverged=lambda: guard.diverged)
    hooks = [
        *_exact_resume(config, graph, around),
        guard,
        *foreign,
        *graph.hooks,
        *_profiles(setup, around.cluster),
        *(_chief_hooks(setup, graph, around, listeners) if is_chief else []),
        *(each for each in named if each not in listeners),
        progress,
        StopAtStepHook(last_step=config.max_steps),
        StopOnSignalHook(around.stopped),
    ]
    if not is_chief and config.startup_delay_steps:
        until = config.task * config.startup_delay_steps
        hooks.append(StartupDelayHook(until_step=until, stop=around.stopped))
    return RunHooks(hooks, progress)


def _examples_per_step(setup: TrainingSetup) -> int:
    config = setup.config
    return config.worker_batch_size * config.worker_replicas * setup.batches_per_step()


def _context(setup: TrainingSetup, graph: TrainGraph, around: Surroundings) -> HookContext:
    return HookContext(
        model_dir=setup.model_dir,
        is_chief=around.cluster.is_chief,
        task=setup.config.task,
        max_steps=setup.config.max_steps,
        examples_per_step=_examples_per_step(setup),
        graph=graph,
        report=around.report,
        eval_every_n_steps=setup.config.eval_every_n_steps,
    )


def _exact_resume(config: RunOptions, graph: TrainGraph, around: Surroundings) -> list[Any]:
    """What makes a resumed run end like one that was never stopped."""
    if graph.input_position is None:
        return []
    if graph.not_repeatable:
        _refuse_or_warn(config, graph, around.report)
    return [
        InputPositionHook(
            graph.input_position,
            restored_from=around.restored_from,
            allow_inexact=config.allow_inexact_resume,
            report=around.report,
        )
    ]


def _refuse_or_warn(config: RunOptions, graph: TrainGraph, report: Callable[[str], None]) -> None:
    reasons = "\n  ".join(graph.not_repeatable)
    what = f"a resumed run would draw other random numbers than one never stopped:\n  {reasons}"
    if not config.allow_inexact_resume:
        raise DataError(
            f"{what}\ndraw them outside of loops and functions, or with stateless ops "
            "(tf.random.stateless_uniform); or give --allow_inexact_resume"
        )
    report(f"warning: {what}")


def _profiles(setup: TrainingSetup, cluster: Cluster) -> list[Any]:
    config = setup.config
    if not (config.profile_at_step or config.profile_every_n_steps):
        return []
    if not (cluster.is_chief or config.profile_all_workers):
        return []
    return [
        ProfileHook(
            setup.model_dir,
            at_steps=config.profile_at_step,
            num_steps=config.profile_num_steps,
            every_steps=config.profile_every_n_steps or None,
            task=config.task,
            is_chief=cluster.is_chief,
        )
    ]


def _chief_hooks(
    setup: TrainingSetup, graph: TrainGraph, around: Surroundings, listeners: list[Any]
) -> list[Any]:
    """What only one worker does: saving, summaries, evaluation, the log."""
    config, model_dir = setup.config, setup.model_dir
    hooks: list[Any] = []
    if around.saves:
        hooks.append(_checkpoints(setup, graph, around, [*listeners, *around.listeners]))
    if config.writes_summaries and graph.summary_op is not None:
        hooks.append(
            SummaryHook(
                model_dir,
                graph.summary_op,
                every_steps=config.save_summaries_steps or None,
                every_secs=config.save_summaries_secs,
            )
        )
    if config.trace_every_n_steps:
        hooks.append(
            TimelineHook(
                model_dir,
                every_steps=config.trace_every_n_steps,
                gzip=config.trace_gzip,
                memory=config.trace_memory,
                dataflow=config.trace_dataflow,
                writer=event_writer(model_dir),
            )
        )
    if config.eval_every_n_steps:
        hooks.append(_evaluation(config, hooks[:1], around))
    return hooks + _log(setup, graph, around)


def _checkpoints(
    setup: TrainingSetup, graph: TrainGraph, around: Surroundings, listeners: list[Any]
) -> CheckpointHook:
    config, position = setup.config, graph.input_position
    return CheckpointHook(
        setup.model_dir,
        graph.scaffold,
        every_steps=config.save_checkpoint_steps,
        every_secs=config.save_checkpoint_secs,
        extras=position.tensors if position else None,
        listeners=listeners,
        max_to_keep=config.max_to_keep,
        keep_every_n_hours=config.keep_checkpoint_every_n_hours,
        asynchronous=config.async_checkpoint,
        report=around.report,
        unless=around.diverged,
    )


def _evaluation(
    config: RunOptions, checkpoints: Sequence[CheckpointHook], around: Surroundings
) -> EvaluateHook:
    """Evaluates what it has the checkpoint hook save."""
    steps, wanted = config.eval_every_n_steps, around.evaluate
    if wanted is None or not around.saves:
        raise ConfigError(
            f"eval_every_n_steps {steps} is for tf-frame run, which knows its evaluation data and "
            "saves checkpoints; use train_and_evaluate"
        )
    checkpoints[0].cadence = Either(checkpoints[0].cadence, Multiples(steps))

    def evaluate(step: int) -> Mapping[str, float]:
        checkpoints[0].wait()
        return wanted(step)

    return EvaluateHook(
        evaluate, every_steps=steps, last_step=config.max_steps, unless=around.diverged
    )


def _log(setup: TrainingSetup, graph: TrainGraph, around: Surroundings) -> list[Any]:
    every, last = setup.config.log_every_n_steps, setup.config.max_steps
    if not every:
        return []
    tensors = {"loss": graph.train_op}
    if graph.learning_rate is not None:
        tensors["learning_rate"] = graph.learning_rate
    rates: Any = StepCounterHook(every_n_steps=every, output_dir=setup.model_dir)
    if around.counts_examples:
        rates = ThroughputHook(
            examples_per_step=_examples_per_step(setup),
            every_steps=every,
            last_step=last,
            min_secs=_MIN_INTERVAL_SECS,
            writer=event_writer(setup.model_dir),
        )
    return [LoggingHook(tensors, every_steps=every, last_step=last), rates]
