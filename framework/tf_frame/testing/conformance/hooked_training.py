"""`run_hooked`: trains the toy model with a hook, and records the effects of the hook."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import tempfile
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase, closing_all
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.metrics_log import MetricsLog
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.plugin import HookContext
from tf_frame.runs.setup.training_setup import check_hooks
from tf_frame.session.interrupts import Interrupts
from tf_frame.session.job_member import JobMember
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule, has_cadence
from tf_frame.testing.conformance.outcomes import usable_here
from tf_frame.testing.conformance.resources import find_leaks, resources
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import build_toy_graph

STEPS = 12
_FAILING_STEP = 7


@dataclasses.dataclass
class HookedRun:
    """The events of a training.

    Attributes:
      losses: the losses of the steps.
      steps: the last global step.
      stopped: whether a hook ended the training early.
      error: an unexpected error of the training; None without one.
      outside_of_cadence: descriptions of calls of hooks in steps outside their cadence.
      leaks: descriptions of resources that the hook holds after the training.
    """

    losses: list[float] = dataclasses.field(default_factory=list)
    steps: int = 0
    stopped: bool = False
    error: Exception | None = None
    outside_of_cadence: list[str] = dataclasses.field(default_factory=list)
    leaks: list[str] = dataclasses.field(default_factory=list)


class _Losses(Hook):
    """Records the loss of every step."""

    def __init__(self, run: HookedRun) -> None:
        super().__init__(Cadence(every_steps=1))
        self._run = run

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(run_context.original_args.fetches)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._run.losses.append(float(run_values.results))


class _Watch(Hook):
    """Compares the calls of hooks with their declared cadence.

    Args:
      run: gets the calls outside of a cadence.
      hooks: the hooks with a cadence.
      counts_calls: whether these hooks make all calls of the session; False with listeners and
        hooks of TensorFlow, which declare no cadence and may call the session.

    Attributes:
      count: the number of session calls.
    """

    phase = Phase.STOP

    def __init__(self, run: HookedRun, hooks: list[Any], *, counts_calls: bool) -> None:
        super().__init__(Cadence(every_steps=1))
        self._run, self._hooks, self._counts_calls = run, hooks, counts_calls
        self.count: Any = None
        self._wanting: list[Any] = []
        self._calls: int | None = None

    def before_step(self, run_context: Any, step: int) -> None:
        if self._calls is None:  # The first step; the loop itself reads the global step before.
            self._next(step - 1)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        # The step itself is one call.
        extra_calls = self._number() - (self._calls or 0) - 1
        if extra_calls > 0 and not self._wanting and self._counts_calls:
            self._run.outside_of_cadence.append(
                f"{extra_calls} calls of the session in step {step}"
            )
        for hook in self._hooks:
            if not has_cadence(hook) and hook not in self._wanting:
                name = type(hook).__name__
                self._run.outside_of_cadence.append(
                    f"{name} (cadence: {hook.cadence}) is called in step {step}"
                )
        self._next(step)

    def _next(self, step: int) -> None:
        self._calls = self._number()
        self._wanting = [hook for hook in self._hooks if hook.cadence.wants(step + 1)]

    def _number(self) -> int:
        return int(self.count.runs + self.count.calls)


class _FailsError(Exception):
    """The error of the failing step."""


class _Fails(Hook):
    """Fails at a step, after the hooks that observe it."""

    phase = Phase.STOP

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        raise _FailsError


def run_hooked(
    plugin: Callable[[], Any] | None, *, is_chief: bool = True, fails: bool = False
) -> HookedRun:
    """Trains the toy model with a hook.

    Args:
      plugin: makes the hook plugin; None: no hook.
      is_chief: whether the worker is the chief.
      fails: whether a step fails.

    Raises:
      SkipTest: a package or an option of the hook is missing.
    """
    run = HookedRun()
    with tempfile.TemporaryDirectory() as folder, _in_folder(folder):
        config = RunOptions(train_batch_size=4, max_steps=STEPS, learning_rate=0.1)
        graph = build_toy_graph(config, optimizer="sgd")
        metrics = MetricsLog()
        context = HookContext(
            model_dir=folder,
            is_chief=is_chief,
            task=int(not is_chief),
            max_steps=STEPS,
            examples_per_step=4,
            graph=graph,
            report=lambda text: None,
            metrics=metrics,
        )
        before = resources()
        try:
            with graph.graph.as_default():
                with usable_here("the hook"):
                    hooks = _make_hooks(plugin, context)
                _train(run, graph, hooks, folder, fails=fails)
        except _FailsError:
            pass
        except unittest.SkipTest:
            metrics.close()
            raise
        except Exception as error:
            run.error = error
        metrics.close()
        tf.summary.FileWriterCache.clear()
        wait_for_background_writer()
        run.leaks = find_leaks(before)
    return run


@functools.cache
def plain_losses() -> list[float]:
    """Returns the losses of the training without a hook."""
    return run_hooked(None).losses


def _make_hooks(plugin: Callable[[], Any] | None, context: HookContext) -> list[Any]:
    if plugin is None:
        return []
    factory = plugin()
    result = factory(context)
    hooks = list(result) if isinstance(result, (list, tuple)) else [result]
    check_hooks(factory, hooks)
    return hooks


def _train(run: HookedRun, graph: Any, hooks: list[Any], folder: str, *, fails: bool) -> None:
    listeners = [hook for hook in hooks if isinstance(hook, tf.train.CheckpointSaverListener)]
    observers = [hook for hook in hooks if hook not in listeners]
    base_hooks = [StopAtStepHook(last_step=STEPS), _Losses(run), *graph.hooks]
    base_hooks += [_Fails(Cadence(at_steps=[_FAILING_STEP]))] if fails else []
    if listeners:
        saver = tf.train.CheckpointSaverHook
        base_hooks.append(saver(folder, save_steps=5, scaffold=graph.scaffold, listeners=listeners))
    with_cadence = [hook for hook in observers if isinstance(hook, Hook)]
    watch = _Watch(run, with_cadence, counts_calls=len(with_cadence) == len(hooks))
    loop = TrainingLoop(graph, Schedule([*observers, *base_hooks, watch]))
    config = RunOptions()
    member = JobMember(
        cluster=find_cluster(config),
        agreement=None,
        model_dir=folder,
        max_steps=STEPS,
        timeout_secs=config.cluster_timeout_secs,
        report=lambda text: None,
        interrupts=Interrupts(),
    )
    with closing_all(loop.hooks), counted_runs() as count:
        watch.count = count
        session = monitored_session(graph, hooks=loop.hooks, member=member, config=None)
        with session:
            loop.run(session)
    run.steps = loop.global_step
    run.stopped = loop.stop_requested


@contextlib.contextmanager
def _in_folder(folder: str) -> Iterator[None]:
    """Changes the current folder, for hooks with relative paths."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
