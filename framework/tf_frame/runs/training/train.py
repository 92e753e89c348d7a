"""`train`: builds the graph, hooks and session of a `TrainingSetup`, and runs the training loop.

`tf-frame run` and `Estimator.train` both call it, so that both train alike.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.config.run_options import RunOptions
from tf_frame.config.yaml_file import to_yaml
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment, precision_rewrites, session_config
from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.graph.step_loop import StepLoop, build_step_loop, why_not
from tf_frame.graph.train_graph import TrainGraph, build_train_graph
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.plugin.lock import lock_of
from tf_frame.profiling.attach_request import ProfileRequest
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.setup.model_dir import CONFIG_FILE, write_input_info
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.hooks.job import make_profile_hook
from tf_frame.runs.training.hooks.make import make_hooks
from tf_frame.runs.training.profile_requests import profiles_on_request
from tf_frame.runs.warm_start.apply import with_warm_start
from tf_frame.runs.warm_start.options import warm_started
from tf_frame.session.job_member import JobMember, NothingLeftToTrain
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule

_LOG = logging.getLogger("tf_frame")
_HEADER = "Written by tf-frame; run it again with: tf-frame run --config THIS_FILE"


@dataclasses.dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes:
      global_step: the last step.
      loss: total loss of the last step, None if no step ran.
      steps_per_sec, examples_per_sec: means without the first step.
      stopped: whether a hook ended training, and not the end of the input.
      step_times: durations of steps and hooks; see `StepTimes.table`.
    """

    global_step: int
    loss: float | None
    steps_per_sec: float | None
    examples_per_sec: float | None
    stopped: bool = True
    step_times: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def train(setup: TrainingSetup, context: RunContext, *, model: Any, source: Any) -> Trained:
    """Trains until `max_steps`, the end of the input, or a signal.

    Args:
      setup: how to train.
      context: who watches, which worker this is, what a script adds.
      model, source: the model and the input, constructed.

    Raises:
      ConfigError: a pattern matches no variable, and `--strict` is set.
      CheckpointError: the checkpoint belongs to another model.
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config, cluster, observer = setup.config, context.cluster, context.observer
    deployment = make_deployment(config, cluster)
    for part in (source, model):
        # Neither need inherit from the class of its contract.
        for note in getattr(part, "notes", tuple)():
            observer.report(f"note: {note}")
    with unmatched_patterns(strict=config.strict, report=observer.report):
        graph = build_graph(setup, model=model, source=source, deployment=deployment)
        if cluster.is_chief:
            graph = _with_initial_values(graph, setup, context, model)
    observer.interrupts.raise_if_received()
    restored = RestoredCheckpoint(input_restarts_at=context.input_restarts_at)
    proto = _session_config(setup.config, cluster, deployment, context.session_config)
    with graph.graph.as_default(), job_member(setup, context) as member:
        times = StepTimes()
        hooks, progress = make_hooks(
            setup, context, graph, source=source, restored=restored, member=member, times=times
        )
        loop = make_loop(
            config,
            graph,
            hooks,
            report=observer.report,
            check_error=member.check_error,
            times=times,
        )

        def asked_profile(request: ProfileRequest, step: int) -> Any:
            return make_profile_hook(
                setup,
                cluster,
                member.agreement,
                graph,
                times,
                folder=setup.model_dir,  # Where the one who asks waits for it.
                report=observer.report,
                all_tasks=request.all_tasks,
                at_steps=[step],
                # The first step prepares the graph, and is not reported.
                num_steps=request.steps + 1,
                own_steps=True,
                label=request.label,
                began=request.began,
            )

        try:
            with _nothing_left_of_no_step(loop, setup), closing_all(loop.hooks):
                member.wait_for_servers()
                # A remote session waits for every task of the cluster and notices no signal.
                with observer.interrupts.deadly() if cluster.target else contextlib.nullcontext():
                    session = monitored_session(
                        graph,
                        hooks=loop.hooks,
                        model_dir=setup.model_dir,
                        member=member,
                        config=proto,
                        checkpoint=context.checkpoint,
                        restored=restored,
                        report=observer.report,
                    )
                with (
                    session,
                    profiles_on_request(
                        setup.model_dir, loop, asked_profile, report=observer.report
                    ),
                ):
                    # Not earlier: now the graph is known to fit the folder's checkpoint.
                    if cluster.is_chief and setup.model is not None:
                        write_configuration(setup, source.info)
                    loop.run(session)
            member.finish()
            if cluster.is_chief and member.agreement is not None:
                # The other workers' last updates are in the last checkpoint as well.
                saved = read_step(newest_checkpoint(setup.model_dir))
                loop.global_step = max(loop.global_step, saved)
        except NothingLeftToTrain as others:
            loop.global_step = others.step
    return Trained(
        global_step=loop.global_step,
        loss=None if loop.loss is None else float(loop.loss),
        steps_per_sec=progress.steps_per_sec,
        examples_per_sec=progress.examples_per_sec,
        stopped=loop.stop_requested,
        step_times=times.table(),
    )


@contextlib.contextmanager
def job_member(setup: TrainingSetup, context: RunContext) -> Iterator[JobMember]:
    """Connects this worker with the other tasks of its job, if it has any."""
    cluster, observer = context.cluster, context.observer
    agreement = Agreement(cluster) if cluster.has_several_tasks else None
    with contextlib.closing(agreement) if agreement else contextlib.nullcontext():
        yield JobMember(
            cluster=cluster,
            agreement=agreement,
            model_dir=setup.model_dir,
            max_steps=setup.config.max_steps,
            timeout_secs=setup.config.cluster_timeout_secs,
            report=observer.report,
            interrupts=observer.interrupts,
        )


@contextlib.contextmanager
def _nothing_left_of_no_step(loop: TrainingLoop, setup: TrainingSetup) -> Iterator[None]:
    """Removes the first checkpoint after a training that failed, or had no data, without a step."""
    # An `Estimator` without data is no failure.
    failed = setup.model is not None
    try:
        yield
        failed = failed and not loop.stop_requested
    except BaseException:
        failed = True
        raise
    finally:
        if failed and loop.loss is None:
            for hook in loop.hooks:
                if isinstance(hook, CheckpointHook):
                    hook.discard_first()


def build_graph(
    setup: TrainingSetup, *, model: Any, source: Any, deployment: DeploymentConfig
) -> TrainGraph:
    """Builds the training graph of a setup; see `train`."""
    return build_train_graph(
        model=model,
        source=source,
        optimizer=setup.make_optimizer(),
        schedule=setup.make_schedule(source.info),
        transforms=setup.make_transforms(),
        config=setup.config,
        deployment=deployment,
    )


@contextlib.contextmanager
def unmatched_patterns(*, strict: bool, report: Callable[[str], None]) -> Iterator[None]:
    """Reports each `UnmatchedPatternWarning`; with `strict`, the first one ends the run.

    The warning says that a pattern of variable names in an option matches no variable.

    Raises:
      ConfigError: a pattern matched nothing, and `strict` is set.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "always", UnmatchedPatternWarning)
        show = warnings.showwarning

        def show_or_report(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if issubclass(category, UnmatchedPatternWarning):
                report(f"warning: {message}")
            else:
                show(message, category, *place, **more)

        warnings.showwarning = show_or_report
        try:
            yield
        except UnmatchedPatternWarning as unmatched:
            raise ConfigError(f"{unmatched} (an error because of --strict)") from None


def _with_initial_values(
    graph: TrainGraph, setup: TrainingSetup, context: RunContext, model: Any
) -> TrainGraph:
    """The graph with a scaffold that takes initial values from another model's checkpoint."""
    report = context.observer.report
    graph = warm_started(
        graph,
        setup.config,
        setup.model_dir,
        checkpoint=context.checkpoint,
        report=report,
        # A model need not inherit from `tf_frame.Model`.
        proposed=getattr(model, "warm_start_options", lambda checkpoint: {}),
    )
    if context.warm_start_from is None:
        return graph
    with graph.graph.as_default():
        scaffold = with_warm_start(
            graph.scaffold, context.warm_start_from, context.checkpoint, report=report
        )
    return dataclasses.replace(graph, scaffold=scaffold)


def _session_config(
    config: RunOptions, cluster: Cluster, deployment: DeploymentConfig, given: Any
) -> Any:
    proto = session_config(config, deployment, cluster)
    if given is not None:
        # The union of two lists of filters would let a session wait for more servers.
        if given.device_filters:
            del proto.device_filters[:]
        proto.MergeFrom(given)
    precision_rewrites(proto, config, has_gpu=deployment.has_gpu_clones)
    return proto


def make_loop(
    config: RunOptions,
    graph: TrainGraph,
    hooks: list[Any],
    *,
    report: Callable[[str], None],
    check_error: Callable[[Exception], None] = lambda error: None,
    times: StepTimes | None = None,
) -> TrainingLoop:
    """Makes the loop of a run; reports hooks that slow the loop; logs the order of the hooks."""
    schedule = Schedule(hooks)
    lines = schedule.describe()
    for line in lines:
        _LOG.info("%s", line)
    if schedule.keeps_fast_path_off():
        report(f"note: {lines[-1]}")
    step_loop = None
    if config.steps_per_loop > 1:
        step_loop = _step_loop(config, graph, schedule, report)
    return TrainingLoop(graph, schedule, step_loop=step_loop, check_error=check_error, times=times)


def _step_loop(
    config: RunOptions, graph: TrainGraph, schedule: Schedule, report: Callable[[str], None]
) -> StepLoop | None:
    reason = "several tasks train together" if config.master else why_not(graph)
    if reason:
        report(f"note: --steps_per_loop {config.steps_per_loop} has no effect: {reason}")
        return None
    watched = [hook.watched for hook in schedule.watching]
    return build_step_loop(graph, steps=config.steps_per_loop, watched=watched)


@contextlib.contextmanager
def closing_all(hooks: Iterable[Any]) -> Iterator[None]:
    """Calls `close()` of the hooks that have one, also after an error, which no hook is told."""
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            if hasattr(hook, "close"):
                stack.callback(hook.close)
        yield


def write_configuration(setup: TrainingSetup, info: Any) -> None:
    """Writes by what later commands evaluate, predict and export the run.

    Args:
      setup: the run.
      info: the `info` of its input.
    """
    assert setup.input is not None
    write_input_info(setup.model_dir, setup.input.name, info)
    path = os.path.join(setup.model_dir, CONFIG_FILE)
    settings = dataclasses.replace(setup.settings(), lock=lock_of(setup.plugins()))
    write_file(path, to_yaml(settings, _HEADER))
