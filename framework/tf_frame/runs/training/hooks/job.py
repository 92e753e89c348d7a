"""Makes the hooks of a worker in a job: delayed start, shared steps, status file and signals."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.key_value_store import NO_NUMBER
from tf_frame.graph.update.all_reduce import worker_group
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.hooks.follow_chief import FollowChiefHook
from tf_frame.hooks.job_sessions import BroadcastHook, OpenSessionHook, WatchingHook
from tf_frame.hooks.status import StatusHook
from tf_frame.hooks.stock.global_step_waiter import GlobalStepWaiterHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.runs.training.parts import TrainingParts

_LOG = logging.getLogger("tf_frame")

_STATUS_SECS, _STATUS_ALONE_SECS = 2.0, 10.0


def delay_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the hook that delays the start of a worker, before the worker joins the job."""
    config = parts.config
    if config.startup_delay_steps and not parts.cluster.is_chief:
        yield GlobalStepWaiterHook(
            config.task * config.startup_delay_steps,
            give_up=parts.interrupted,
            log=_LOG.info,
        )


def member_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the hooks that connect a worker with the sessions and steps of the other workers."""
    agreement, member = parts.agreement, parts.member
    if agreement is None:
        return
    workers, is_chief = worker_group(parts.deployment), parts.cluster.is_chief
    agreed_save = None
    if workers is not None:
        yield BroadcastHook(workers.broadcast(tf.global_variables()), member.check_error)
        no_request = tf.constant(NO_NUMBER, tf.int64)
        agreed_save = workers.agreed([agreement.requested_save() if is_chief else no_request])[0]
    if not is_chief:
        yield FollowChiefHook(
            agreement=agreement,
            agreed_save=agreed_save,
            position=parts.graph.input_position,
            restored=parts.restored,
            model_dir=parts.model_dir,
            max_steps=parts.config.max_steps,
            interrupted=parts.interrupted,
            report=parts.report,
        )
    elif agreed_save is None:
        yield OpenSessionHook(agreement)
    else:
        yield WatchingHook(tf.cast(agreed_save, tf.float32))


def sync_replicas_hook(parts: TrainingParts) -> SyncReplicasHook | None:
    """Makes the hook of synchronous updates (`--sync_replicas`), if there are any."""
    replicas, agreement = parts.graph.sync_replicas, parts.agreement
    if replicas is None:
        return None
    hook: SyncReplicasHook = replicas.session_hook(
        is_over=agreement.any_has_finished if agreement else lambda: False
    )
    return hook


def status_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the hook that writes the status of this task, of a recorded run or of a job."""
    several = parts.cluster.has_several_tasks
    if parts.setup.is_recorded or several:
        yield StatusHook(
            parts.model_dir,
            task=parts.cluster.task_name,
            max_steps=parts.config.max_steps,
            num_workers=parts.cluster.num_workers,
            num_ps=parts.cluster.num_ps_tasks,
            own_steps=parts.graph.own_steps,
            every_secs=_STATUS_SECS if several else _STATUS_ALONE_SECS,
        )


def signal_hooks(parts: TrainingParts, *, saves: bool) -> Iterator[Any]:
    """Yields the hook that stops on a signal or by `--max_secs`, unless all tasks agree on a step.

    Args:
      parts: the training.
      saves: whether the chief saves checkpoints, and so requests the stop.
    """
    agrees = parts.agreement is not None and (saves or not parts.cluster.is_chief)
    if not agrees:
        yield StopOnSignalHook(parts.must_stop)
