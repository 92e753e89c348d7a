"""Builds the training graph of a setup, the session configuration and the training loop."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.mixed_precision import precision_rewrites
from tf_frame.deploy.session_config import omit_passes, session_config
from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.graph.step_loop import StepLoop, build_step_loop, find_obstacle
from tf_frame.graph.train_graph import TrainGraph, build_train_graph
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.runs.warm_start.apply import add_warm_start
from tf_frame.runs.warm_start.options import warm_start_graph
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.schedule import Schedule

_LOG = logging.getLogger("tf_frame")


def build_graph(
    setup: TrainingSetup, *, model: Any, source: Any, deployment: DeploymentConfig
) -> TrainGraph:
    """Builds the training graph of a setup, with its model and its input constructed."""
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
        except UnmatchedPatternWarning as error:
            raise ConfigError(f"{error} (an error because of --strict)") from None


def with_initial_values(
    graph: TrainGraph, setup: TrainingSetup, context: RunContext, model: Any
) -> TrainGraph:
    """Returns the graph with a scaffold that takes values from another model's checkpoint."""
    report = context.observer.report
    graph = warm_start_graph(
        graph,
        setup.config,
        setup.model_dir,
        checkpoint=context.checkpoint,
        report=report,
        # A model need not inherit from `tf_frame.Model`.
        proposed=getattr(model, "warm_start_options", lambda checkpoint: {}),
        class_names=getattr(getattr(model, "info", None), "class_names", ()),
    )
    if context.warm_start_from is None:
        return graph
    with graph.graph.as_default():
        scaffold = add_warm_start(
            graph.scaffold, context.warm_start_from, context.checkpoint, report=report
        )
    return dataclasses.replace(graph, scaffold=scaffold)


def session_proto(config: RunOptions, context: RunContext, deployment: DeploymentConfig) -> Any:
    """Returns the `ConfigProto` of the session; fields that a script sets win."""
    proto = session_config(config, deployment, context.cluster)
    script_proto = context.session_config
    if script_proto is not None:
        # The union of two lists of filters would let a session wait for more servers.
        if script_proto.device_filters:
            del proto.device_filters[:]
        proto.MergeFrom(script_proto)
    if deployment.clone_device_type == "CPU":
        omit_passes(proto)
    precision_rewrites(proto, config, has_gpu=deployment.has_gpu_clones)
    return proto


def make_loop(parts: TrainingParts, hooks: Sequence[Any]) -> TrainingLoop:
    """Makes the loop; reports hooks that slow the loop, and logs the order of the hooks."""
    schedule = Schedule(hooks)
    lines = schedule.describe()
    for line in lines:
        _LOG.info("%s", line)
    if schedule.keeps_fast_path_off():
        parts.report(f"note: {lines[-1]}")
    return TrainingLoop(
        parts.graph,
        schedule,
        step_loop=_step_loop(parts.config, parts.graph, schedule, parts.report),
        check_error=parts.member.check_error,
        times=parts.times,
    )


def _step_loop(
    config: RunOptions, graph: TrainGraph, schedule: Schedule, report: Callable[[str], None]
) -> StepLoop | None:
    """Returns the loop within the graph for `--steps_per_loop`; None if there is no such loop."""
    if config.steps_per_loop == 1:
        return None
    reason = "several tasks train together" if config.master else find_obstacle(graph)
    if reason:
        report(f"note: --steps_per_loop {config.steps_per_loop} has no effect: {reason}")
        return None
    watched = [hook.watched for hook in schedule.watching]
    return build_step_loop(graph, steps=config.steps_per_loop, watched=watched)
