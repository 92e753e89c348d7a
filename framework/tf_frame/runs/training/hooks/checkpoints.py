"""Makes the chief's hooks that save and evaluate checkpoints; finds saver hooks of a script."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.errors import ConfigError
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.hooks.agreed_checkpoint import AgreedCheckpointHook, worker_positions
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook
from tf_frame.hooks.training_clock import pause
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TRAIN_AND_EVALUATE
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.types import Session

_SAVERS = (tf.train.CheckpointSaverHook, CheckpointSaverHook)


@dataclasses.dataclass(frozen=True, eq=False)
class EvaluateSaved(tf.train.CheckpointSaverListener):
    """Evaluates each checkpoint between the first and the last one of a run.

    The first checkpoint was evaluated by an earlier run, and the last one is evaluated after
    training. Rates of steps leave out the time of evaluations.
    """

    evaluate: Callable[[int], Mapping[str, float]]
    first_step: int
    last_step: int

    def after_save(self, session: Session, global_step_value: int) -> None:
        if self.first_step < global_step_value < self.last_step:
            with pause():
                self.evaluate(global_step_value)


@dataclasses.dataclass(frozen=True, eq=False)
class EndToRegroup(tf.train.CheckpointSaverListener):
    """Ends the session of a job after a save, for the job to go on with other workers."""

    observer: RunObserver
    first_step: int
    last_step: int

    def after_save(self, session: Session, global_step_value: int) -> None:
        in_between = self.first_step < global_step_value < self.last_step
        if in_between and self.observer.interrupts.received is None and self.observer.regroup_due():
            self.observer.report("another worker waits: all save, end and meet again")
            self.observer.interrupts.received = signal.SIGUSR1


def tf_frame_saves(parts: TrainingParts, hooks: Sequence[Any]) -> bool:
    """Returns whether tf-frame saves checkpoints, rather than a hook of the model or a script.

    As in tf.estimator (estimator.py, `_train_with_estimator_spec`), a `CheckpointSaverHook` of a
    script replaces the estimator's own, and the first of them gets the saving listeners.

    Args:
      parts: the training.
      hooks: the hooks of the model and the script.

    Raises:
      ValueError: no hook saves, so no listener of the script would be called.
    """
    savers = [hook for hook in hooks if isinstance(hook, _SAVERS)]
    if not savers and parts.context.saves_checkpoints:
        return True
    add_listeners(savers, parts.context.listeners)
    return False


def add_listeners(savers: Sequence[Any], listeners: Sequence[Any]) -> None:
    """Gives listeners to the first of the hooks of a script that save, once each.

    Raises:
      ValueError: there are listeners, and no such hook.
    """
    if not listeners:
        return
    if not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    # TensorFlow's hook has no public way to add a listener after construction.
    present = savers[0]._listeners
    present.extend(listener for listener in listeners if listener not in present)


def checkpoint_hooks(
    parts: TrainingParts,
    listeners: Sequence[Any],
    *,
    guard: NanGuardHook,
    sync: SyncReplicasHook | None,
    saves: bool,
) -> Iterator[Any]:
    """Yields the hooks that save checkpoints and evaluate them during training.

    Args:
      parts: the training.
      listeners: checkpoint listeners of plugins.
      guard: checks the loss; a step that diverged is neither saved nor evaluated.
      sync: the hook of synchronous updates, which end with the last step.
      saves: whether tf-frame saves checkpoints.

    Raises:
      ConfigError: checkpoints are to be evaluated, and there are none or nothing evaluates.
    """
    config, evaluate_step = parts.config, parts.context.evaluate_step
    if config.evaluates_in_training and (evaluate_step is None or not saves):
        raise ConfigError(
            "eval_every_n_steps and eval_every_secs are for tf-frame run, which knows its "
            "evaluation data and saves checkpoints; use train_and_evaluate"
        )
    if not saves:
        return
    evaluation = None
    if config.evaluates_in_training and evaluate_step is not None:

        def evaluate_saved(step: int) -> Mapping[str, float]:
            saver.wait()
            return evaluate_step(step)

        evaluation = EvaluateHook(
            evaluate_saved,
            every_steps=config.eval_every_n_steps or None,
            every_secs=config.eval_every_secs,
            last_step=config.max_steps if config.evaluate else None,
            unless=lambda: guard.diverged,
            is_saved=lambda step: saver.saved_step == step,
        )
    times = evaluation.times if evaluation else None
    saver = _checkpoint_hook(parts, listeners, guard=guard, sync=sync, evaluation_times=times)
    yield saver
    if evaluation:
        yield evaluation


def _checkpoint_hook(
    parts: TrainingParts,
    listeners: Sequence[Any],
    *,
    guard: NanGuardHook,
    sync: SyncReplicasHook | None,
    evaluation_times: Cadence | None,
) -> CheckpointHook:
    config, agreement, position = parts.config, parts.agreement, parts.graph.input_position
    extras = dict(position.tensors) if position else None
    arguments: dict[str, Any] = {
        "every_steps": config.save_checkpoint_steps,
        "every_secs": config.save_checkpoint_secs,
        "multiples_of": config.eval_every_n_steps or None,
        "follows": evaluation_times,
        "listeners": [*listeners, *_own_listeners(parts), *parts.context.listeners],
        "max_to_keep": config.max_to_keep,
        "keep_every_n_hours": config.keep_checkpoint_every_n_hours,
        "asynchronous": config.async_checkpoint,
        "report": parts.report,
        "unless": lambda: guard.diverged,
    }
    if agreement is None:
        return CheckpointHook(parts.model_dir, parts.graph.scaffold, extras=extras, **arguments)
    return AgreedCheckpointHook(
        parts.model_dir,
        parts.graph.scaffold,
        extras=extras and {**extras, **worker_positions(agreement, position, config.input_shards)},
        agreement=agreement,
        last_step=config.max_steps,
        interrupted=parts.must_stop,
        end_updates=sync.end_updates if sync else lambda: None,
        **arguments,
    )


def _own_listeners(parts: TrainingParts) -> Iterator[Any]:
    """Yields listeners that evaluate checkpoints (`--mode train_and_evaluate`), and regroup."""
    first_step, last_step = read_step(parts.context.checkpoint), parts.config.max_steps
    evaluate_step = parts.context.evaluate_step
    if parts.setup.mode == TRAIN_AND_EVALUATE and evaluate_step is not None:
        yield EvaluateSaved(evaluate_step, first_step, last_step)
    if parts.cluster.meeting:
        yield EndToRegroup(parts.context.observer, first_step, last_step)
