"""Training by a recipe, from its graph to its last checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.checkpoint.find.newest import step_of
from tf_frame.cluster import cluster_of
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.estimator.model_function.input_fn import InputFn
from tf_frame.estimator.training.hooks import Surroundings, run_hooks
from tf_frame.estimator.training.observer import RunObserver
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.estimator.training.unmatched_patterns import unmatched_patterns
from tf_frame.estimator.warm_start.options import warm_started
from tf_frame.graph.precision import precision_rewrites
from tf_frame.graph.step_loop import StepLoop, build_step_loop, why_not
from tf_frame.graph.train_graph import TrainGraph, build_train_graph
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import Restored, monitored_session
from tf_frame.session.schedule import Schedule

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Trained:
    """What training came to.

    Attributes:
      global_step: the last step.
      loss: total loss of the last step, None if no step ran.
      steps_per_sec, examples_per_sec: means without the first step.
      stopped: whether a hook ended training, and not the end of the input.
    """

    global_step: int
    loss: float | None
    steps_per_sec: float | None
    examples_per_sec: float | None
    stopped: bool = True


@dataclasses.dataclass(frozen=True)
class Additions:
    """What a script adds to a training run beside its recipe.

    Attributes:
      hooks: session hooks, called after the model's `chief_hooks` and before its `hooks`.
      listeners: `CheckpointSaverListener`s.
      saves: whether checkpoints are saved at all.
      job: job and task of this worker's server, where TF_CONFIG names them.
      warm_start: called with the training graph, in it; returns the graph with
        a scaffold that gives the first values.
      session_config: a `ConfigProto` whose fields win over tf-frame's own, or None.
      ready: called once the session is there: the graph fits the folder's checkpoint.
      evaluate: evaluates the checkpoint of a step, where the options ask for it.
      begins_anew_at: global step from which the input is read from its beginning,
        though the checkpoint of that step knows where it was.
    """

    hooks: Sequence[Any] = ()
    listeners: Sequence[Any] = ()
    saves: bool = True
    job: str = ""
    warm_start: Callable[[TrainGraph], TrainGraph] = lambda graph: graph
    session_config: Any = None
    ready: Callable[[], None] = lambda: None
    evaluate: Callable[[int], Mapping[str, float]] | None = None
    begins_anew_at: int | None = None


def train(
    setup: TrainingSetup, *, model: Any, source: Any, observer: RunObserver, additions: Additions
) -> Trained:
    """Trains until `max_steps`, the end of the input, or a signal.

    Args:
      setup: how to train.
      model, source: a model and an input, constructed.
      observer: who hears of it, and may stop it.
      additions: what a script adds.

    Raises:
      ConfigError: a pattern matches no variable, and `--strict` is set.
      CheckpointError: the checkpoint belongs to another model.
      DataError: a resumed run would not be exact, and the options do not allow that.
    """
    config = setup.config
    cluster = dataclasses.replace(cluster_of(config), job=additions.job)
    deployment = make_deployment(config, cluster)
    proto = _session_config(config, deployment, additions.session_config)
    with unmatched_patterns(strict=config.strict, report=observer.report):
        graph = build_graph(setup, model=model, source=source, deployment=deployment)
        if cluster.is_chief:
            graph = warm_started(graph, config, setup.model_dir, report=observer.report)
            with graph.graph.as_default():
                graph = additions.warm_start(graph)
    observer.interrupts.raise_if_received()
    restored = Restored()
    around = Surroundings(
        cluster=cluster,
        stopped=lambda: observer.interrupts.received,
        restored_from=lambda: _position_in(restored.path, additions.begins_anew_at),
        evaluate=additions.evaluate,
        report=observer.report,
        shows_progress=observer.shows_progress,
        hooks=additions.hooks,
        listeners=additions.listeners,
        saves=additions.saves,
        # An input function, whatever it makes of itself, has batches of its own.
        counts_examples=not (isinstance(source, InputFn) or callable(source)),
    )
    with graph.graph.as_default():
        made = run_hooks(setup, graph, around)
        loop = make_loop(config, graph, made.hooks, report=observer.report)
        with closing_all(loop.hooks):
            # A remote session waits for every task of the cluster, deaf to signals.
            deaf = observer.interrupts.deadly if cluster.target else contextlib.nullcontext
            with deaf():
                session = monitored_session(
                    graph,
                    hooks=loop.hooks,
                    model_dir=setup.model_dir,
                    cluster=cluster,
                    config=proto,
                    note=observer.report,
                    restored=restored,
                )
            with session:
                additions.ready()
                loop.run(session)
    return Trained(
        global_step=loop.global_step,
        loss=None if loop.loss is None else float(loop.loss),
        steps_per_sec=made.progress.steps_per_sec,
        examples_per_sec=made.progress.examples_per_sec,
        stopped=loop.stop_requested,
    )


def _position_in(path: str | None, begins_anew_at: int | None) -> str | None:
    """The checkpoint whose position in the input counts."""
    return None if path is None or step_of(path) == begins_anew_at else path


def _session_config(config: RunOptions, deployment: DeploymentConfig, given: Any) -> Any:
    proto = session_config(config, deployment)
    if given is not None:
        proto.MergeFrom(given)
    precision_rewrites(proto, config, has_gpu=deployment.has_gpu_clones)
    return proto


@contextlib.contextmanager
def closing_all(hooks: Iterable[Any]) -> Iterator[None]:
    """Calls `close()` of those hooks that have one, also after an error, which no hook is told."""
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            if hasattr(hook, "close"):
                stack.callback(hook.close)
        yield


def make_loop(
    config: RunOptions, graph: TrainGraph, hooks: list[Any], *, report: Callable[[str], None]
) -> TrainingLoop:
    """Makes the loop of a run, says which hook slows it, and logs the order of the hooks."""
    schedule = Schedule(hooks)
    for line in schedule.describe():
        _LOG.info("%s", line)
    if schedule.keeps_fast_path_off():
        report(f"note: {schedule.describe()[-1]}")
    step_loop = None
    if config.steps_per_loop > 1:
        watched = [hook.watched for hook in schedule.watching]
        step_loop = _step_loop(config, graph, watched, report)
    return TrainingLoop(graph, schedule, step_loop=step_loop)


def _step_loop(
    config: RunOptions, graph: TrainGraph, watched: list[Any], report: Callable[[str], None]
) -> StepLoop | None:
    reason = "several tasks train together" if config.master else why_not(graph)
    if reason:
        report(f"note: --steps_per_loop {config.steps_per_loop} has no effect: {reason}")
        return None
    return build_step_loop(graph, steps=config.steps_per_loop, watched=watched)


def build_graph(
    setup: TrainingSetup, *, model: Any, source: Any, deployment: DeploymentConfig
) -> TrainGraph:
    """Builds the training graph of a recipe; see `train`."""
    return build_train_graph(
        model=model,
        source=source,
        optimizer=setup.make_optimizer(),
        schedule=setup.make_schedule(setup.schedule_context(source.info)),
        transforms=setup.make_transforms(),
        config=setup.config,
        deployment=deployment,
    )
