"""Makes the hooks by which a worker takes part in its job, and shows what it does."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.cluster.clock import clock_offsets
from tf_frame.cluster.key_value_store import NO_NUMBER
from tf_frame.cluster.server import send_to_ps
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.graph.update.all_reduce import worker_group
from tf_frame.hooks.global_step_waiter import GlobalStepWaiterHook
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.status import StatusHook
from tf_frame.hooks.worker import BroadcastHook, JobMemberHook, OpenSessionHook, WatchingHook
from tf_frame.profiling.model_cost import costs
from tf_frame.profiling.recorder import Facts, Recorder
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.job_member import JobMember

_LOG = logging.getLogger("tf_frame")

_STATUS_SECS, _STATUS_ALONE_SECS = 2.0, 10.0


def delay_hooks(setup: TrainingSetup, context: RunContext) -> Iterator[Any]:
    """The hook by which a worker begins later, before the one by which it joins the others."""
    config = setup.config
    if config.startup_delay_steps and not context.cluster.is_chief:
        yield GlobalStepWaiterHook(
            config.task * config.startup_delay_steps,
            give_up=lambda: context.observer.interrupts.received,
            log=_LOG.info,
        )


def member_hooks(
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


def status_hooks(setup: TrainingSetup, cluster: Cluster, graph: TrainGraph) -> Iterator[Any]:
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


def profile_hooks(
    setup: TrainingSetup,
    cluster: Cluster,
    agreement: Agreement | None,
    graph: TrainGraph,
    times: StepTimes,
    report: Callable[[str], None],
) -> Iterator[Any]:
    """The hook that captures profiles, in the tasks that are to be profiled."""
    config = setup.config
    asked = config.profile_at_step or config.profile_every_n_steps
    if asked and (cluster.is_chief or config.profile_all_workers):
        yield make_profile_hook(
            setup,
            cluster,
            agreement,
            graph,
            times,
            folder=config.profile_dir or setup.model_dir,
            report=report,
            at_steps=config.profile_at_step,
            num_steps=config.profile_num_steps,
            every_steps=config.profile_every_n_steps or None,
            all_tasks=config.profile_all_workers,
        )


def make_profile_hook(
    setup: TrainingSetup,
    cluster: Cluster,
    agreement: Agreement | None,
    graph: TrainGraph,
    times: StepTimes,
    *,
    folder: str,
    report: Callable[[str], None],
    all_tasks: bool,
    began: float | None = None,
    **ranges: Any,
) -> ProfileHook:
    """Makes the hook that captures profiles in this task.

    Args:
      setup, cluster, agreement, graph: of the run.
      times: of its loop.
      folder: of the files.
      report: takes a line about what cannot be written.
      all_tasks: whether parameter servers are captured, too, which the chief tells.
      began: time in the names of the captures; None: when the chief's session began, or a capture
        ends.
      **ranges: steps and label, for `ProfileHook`.
    """
    config = setup.config
    session_time = agreement.session_time if agreement else None
    named = session_time if began is None else lambda: began
    job, _, task = cluster.profiled_task.rpartition("_")

    def tell_ps(label: str, begins: bool) -> None:
        if agreement is not None and cluster.is_chief and all_tasks:
            command = {"folder": folder, "label": label, "begins": begins}
            command["began"] = named() if named else None
            send_to_ps(cluster, json.dumps(command).encode())

    # Made in the graph's session, where another graph may be the default one.
    variables = tf.trainable_variables()
    batch_size = setup.examples_per_step() // len(graph.clones)
    clones = [clone.scope.rstrip("/") for clone in graph.clones]
    facts = Facts(
        task=cluster.profiled_task,
        examples_per_step=setup.examples_per_step(),
        clone_scopes=clones if len(clones) > 1 else (),
        costs=functools.partial(
            costs, graph.graph, variables=variables, step=graph.train_op, batch_size=batch_size
        ),
        clock_offsets=functools.partial(clock_offsets, cluster),
    )
    return ProfileHook(
        folder,
        recorder=Recorder(times, facts),
        keep=config.profile_keep,
        job=job,
        task=int(task),
        is_chief=cluster.is_chief,
        began=named,
        tell=tell_ps,
        report=report,
        **ranges,
    )
