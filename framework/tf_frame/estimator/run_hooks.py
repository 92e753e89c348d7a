"""The hooks of a run: those that its options ask for, and those that it names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.estimator.job import Job
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.cadence import Either, Multiples
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.input_position import InputPositionHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.startup_delay import StartupDelayHook
from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook, event_writer
from tf_frame.hooks.throughput import ThroughputHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.plugin import HookContext

# The rate of a few thousandths of a second says little, and a hundred lines a second less.
_MIN_INTERVAL_SECS = 1.0


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What the hooks of a run need to know beside the job and its graph.

    Attributes:
      cluster: which worker this is.
      stopped: whether a signal has arrived.
      restored_from: the checkpoint that the session was restored from.
      evaluate: evaluates the checkpoint of a step; returns metric -> value.
      say: takes a line for the user.
      diverged: whether the variables are no longer to be saved.
    """

    cluster: Cluster
    stopped: Callable[[], object]
    restored_from: Callable[[], str | None]
    evaluate: Callable[[int], Mapping[str, float]]
    say: Callable[[str], None]
    diverged: Callable[[], bool] = lambda: False


@dataclasses.dataclass(frozen=True)
class RunHooks:
    """The hooks of a run.

    Attributes:
      hooks: all of them.
      progress: the one that has the figures of the run.
    """

    hooks: list[Any]
    progress: ProgressHook


def run_hooks(job: Job, graph: TrainGraph, around: Surroundings) -> RunHooks:
    """Makes the hooks of a worker, in the training graph, before its session.

    Raises:
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config = job.config
    progress = ProgressHook(
        graph.train_op,
        last_step=config.max_steps,
        examples_per_step=_examples_per_step(job),
        every_steps=config.log_every_n_steps,
    )
    named = job.make_hooks(_context(job, graph, around))
    listeners = [each for each in named if isinstance(each, tf.train.CheckpointSaverListener)]
    guard = NanGuardHook(graph.train_op, on_nan=config.on_nan)
    around = dataclasses.replace(around, diverged=lambda: guard.diverged)
    hooks = [
        *_exact_resume(config, graph, around),
        guard,
        *graph.hooks,
        *_profiles(job, around.cluster),
        *(_chief_hooks(job, graph, around, listeners) if around.cluster.is_chief else []),
        *(each for each in named if each not in listeners),
        progress,
        StopAtStepHook(last_step=config.max_steps),
        StopOnSignalHook(around.stopped),
    ]
    if not around.cluster.is_chief and config.startup_delay_steps:
        until = config.task * config.startup_delay_steps
        hooks.append(StartupDelayHook(until_step=until, stop=around.stopped))
    return RunHooks(hooks, progress)


def _examples_per_step(job: Job) -> int:
    config = job.config
    return config.worker_batch_size * config.worker_replicas * job.batches_per_step()


def _context(job: Job, graph: TrainGraph, around: Surroundings) -> HookContext:
    return HookContext(
        model_dir=job.model_dir,
        is_chief=around.cluster.is_chief,
        task=job.config.task,
        max_steps=job.config.max_steps,
        examples_per_step=_examples_per_step(job),
        graph=graph,
        say=around.say,
        eval_every_n_steps=job.config.eval_every_n_steps,
    )


def _exact_resume(config: RunOptions, graph: TrainGraph, around: Surroundings) -> list[Any]:
    """What makes a resumed run end like one that was never stopped."""
    if graph.input_position is None:
        return []
    if graph.not_repeatable:
        _refuse_or_warn(config, graph, around.say)
    return [
        InputPositionHook(
            graph.input_position,
            restored_from=around.restored_from,
            allow_inexact=config.allow_inexact_resume,
            say=around.say,
        )
    ]


def _refuse_or_warn(config: RunOptions, graph: TrainGraph, say: Callable[[str], None]) -> None:
    reasons = "\n  ".join(graph.not_repeatable)
    what = f"a resumed run would draw other random numbers than one never stopped:\n  {reasons}"
    if not config.allow_inexact_resume:
        raise DataError(
            f"{what}\ndraw them outside of loops and functions, or with stateless ops "
            "(tf.random.stateless_uniform); or give --allow_inexact_resume"
        )
    say(f"warning: {what}")


def _profiles(job: Job, cluster: Cluster) -> list[Any]:
    config = job.config
    if not (config.profile_at_step or config.profile_every_n_steps):
        return []
    if not (cluster.is_chief or config.profile_all_workers):
        return []
    return [
        ProfileHook(
            job.model_dir,
            at_steps=config.profile_at_step,
            num_steps=config.profile_num_steps,
            every_steps=config.profile_every_n_steps or None,
            task=config.task,
            is_chief=cluster.is_chief,
        )
    ]


def _chief_hooks(
    job: Job, graph: TrainGraph, around: Surroundings, listeners: list[Any]
) -> list[Any]:
    """What only one worker does: saving, summaries, evaluation, the log."""
    config, model_dir = job.config, job.model_dir
    checkpoints = _checkpoints(job, graph, around, listeners)
    hooks: list[Any] = [checkpoints]
    if config.writes_summaries:
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
        hooks.append(_evaluation(config, checkpoints, around))
    return hooks + _log(job, graph)


def _checkpoints(
    job: Job, graph: TrainGraph, around: Surroundings, listeners: list[Any]
) -> CheckpointHook:
    config, position = job.config, graph.input_position
    return CheckpointHook(
        job.model_dir,
        graph.scaffold,
        every_steps=config.save_checkpoint_steps,
        every_secs=config.save_checkpoint_secs,
        extras=position.tensors if position else None,
        listeners=listeners,
        max_to_keep=config.max_to_keep,
        keep_every_n_hours=config.keep_checkpoint_every_n_hours,
        asynchronous=config.async_checkpoint,
        say=around.say,
        unless=around.diverged,
    )


def _evaluation(
    config: RunOptions, checkpoints: CheckpointHook, around: Surroundings
) -> EvaluateHook:
    """Evaluates what it has the checkpoint hook save."""
    steps = config.eval_every_n_steps
    checkpoints.cadence = Either(checkpoints.cadence, Multiples(steps))

    def evaluate(step: int) -> Mapping[str, float]:
        checkpoints.wait()
        return around.evaluate(step)

    return EvaluateHook(
        evaluate, every_steps=steps, last_step=config.max_steps, unless=around.diverged
    )


def _log(job: Job, graph: TrainGraph) -> list[Any]:
    config = job.config
    if not config.log_every_n_steps:
        return []
    every, last = config.log_every_n_steps, config.max_steps
    tensors = {"loss": graph.train_op, "learning_rate": graph.learning_rate}
    return [
        LoggingHook(tensors, every_steps=every, last_step=last),
        ThroughputHook(
            examples_per_step=_examples_per_step(job),
            every_steps=every,
            last_step=last,
            min_secs=_MIN_INTERVAL_SECS,
            writer=event_writer(job.model_dir),
        ),
    ]
