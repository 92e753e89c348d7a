"""A training of the toy model with a hook, and what the hook did: `run_hooked`."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import gc
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.client import session as tf_session

from tf_frame.cluster.find import cluster_of
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator.training.train import closing_all
from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.metrics_log import MetricsLog
from tf_frame.hooks.stop import StopAtStepHook
from tf_frame.plugin import HookContext
from tf_frame.session.interrupts import Interrupts
from tf_frame.session.job_member import JobMember
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule, has_cadence
from tf_frame.testing.conformance.common import usable_here
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import build_toy_graph

STEPS = 12
_FAILING_STEP = 7
_WAIT_SECS = 5.0
# Whose attributes a hook may not leave replaced.
_PATCHABLE = (
    *(builtins, gc, logging, os, signal, sys, threading, time),
    *(tf_session.BaseSession, tf.Session, tf.train.Optimizer, tf.summary.FileWriter, tf.Graph),
)
_CHANGING = ("last_exc", "last_type", "last_value", "last_traceback", "path_importer_cache")


@dataclasses.dataclass
class HookedRun:
    """What happened in a training.

    Attributes:
      losses: of each step.
      steps: the last global step.
      stopped: whether a hook ended the training early.
      error: of the training; None without one, or if it was to fail.
      outside_of_cadence: calls of hooks in steps that they do not want, in words.
      left: what is left of the hook after the training, in words.
    """

    losses: list[float] = dataclasses.field(default_factory=list)
    steps: int = 0
    stopped: bool = False
    error: Exception | None = None
    outside_of_cadence: list[str] = dataclasses.field(default_factory=list)
    left: list[str] = dataclasses.field(default_factory=list)


class _FailsError(Exception):
    """The error of the step that is to fail."""


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
      is_chief: what the hook is told of the worker.
      fails: whether a step fails.

    Raises:
      SkipTest: the hook needs a package or an option that is not there.
    """
    run = HookedRun()
    with tempfile.TemporaryDirectory() as folder, _working_in(folder):
        config = RunOptions(train_batch_size=4, max_steps=STEPS, learning_rate=0.1)
        graph = build_toy_graph(config, optimizer="sgd")
        metrics = MetricsLog()
        context = HookContext(
            model_dir=folder,
            is_chief=is_chief,
            task=0 if is_chief else 1,
            max_steps=STEPS,
            examples_per_step=4,
            graph=graph,
            report=lambda text: None,
            metrics=metrics,
        )
        before = _held()
        try:
            with graph.graph.as_default():
                with usable_here("the hook"):
                    hooks = _made(plugin, context)
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
        run.left = _still_held(before)
    return run


@functools.cache
def plain_losses() -> list[float]:
    """The losses of the training without a hook."""
    return run_hooked(None).losses


def _made(plugin: Callable[[], Any] | None, context: HookContext) -> list[Any]:
    if plugin is None:
        return []
    made = plugin()(context)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _train(run: HookedRun, graph: Any, hooks: list[Any], folder: str, *, fails: bool) -> None:
    listeners = [hook for hook in hooks if isinstance(hook, tf.train.CheckpointSaverListener)]
    observers = [hook for hook in hooks if hook not in listeners]
    own = [StopAtStepHook(last_step=STEPS), _Losses(run), *graph.hooks]
    own += [_Fails(Cadence(at_steps=[_FAILING_STEP]))] if fails else []
    if listeners:
        saver = tf.train.CheckpointSaverHook
        own.append(saver(folder, save_steps=5, scaffold=graph.scaffold, listeners=listeners))
    watch = _Watch(run, [hook for hook in observers if isinstance(hook, Hook)])
    loop = TrainingLoop(graph, Schedule([*observers, *own, watch]))
    config = RunOptions()
    member = JobMember(
        cluster=cluster_of(config),
        agreement=None,
        model_dir=folder,
        max_steps=STEPS,
        timeout_secs=config.cluster_timeout_secs,
        report=lambda text: None,
        interrupts=Interrupts(),
    )
    with closing_all(loop.hooks), counted_runs() as count:
        watch.count = count
        session = monitored_session(
            graph, hooks=loop.hooks, model_dir=folder, member=member, config=None
        )
        with session:
            loop.run(session)
    run.steps = loop.global_step
    run.stopped = loop.stop_requested


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
    """Compares what hooks do in a step with the cadence that they declare.

    Args:
      run: gets the calls outside of a cadence.
      hooks: the hooks with a cadence.

    Attributes:
      count: the calls of sessions.
    """

    phase = Phase.STOP

    def __init__(self, run: HookedRun, hooks: list[Any]) -> None:
        super().__init__(Cadence(every_steps=1))
        self._run, self._hooks = run, hooks
        self.count: Any = None
        self._wanting: list[Any] = []
        self._calls: int | None = None

    def before_step(self, run_context: Any, step: int) -> None:
        if self._calls is None:  # The first step; the loop itself reads the global step before.
            self._next(step - 1)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        # One call is the step itself.
        more = self._number() - (self._calls or 0) - 1
        if more > 0 and not self._wanting:
            self._run.outside_of_cadence.append(f"{more} calls of the session in step {step}")
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


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    """Makes a folder the working one, where a hook with a relative path writes."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _held() -> dict[str, dict[Any, Any]]:
    """Threads, open files, and what a hook might replace."""
    places = {getattr(place, "__name__", str(place)): vars(place) for place in _PATCHABLE}
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {
        "thread": {thread.ident: thread.name for thread in threading.enumerate()},
        "open file": _open_files(),
        "patched": {
            f"{name}.{key}": id(value)
            for name, place in places.items()
            for key, value in list(place.items())
            if not key.startswith("__") and key not in _CHANGING and callable(value)
        },
        "handler of signal": {number: id(handler) for number, handler in signals.items()},
        "state of gc": {"enabled": gc.isenabled(), "threshold": gc.get_threshold()},
        "callback of gc": {id(each): repr(each) for each in gc.callbacks},
        "trace function": {"trace": sys.gettrace(), "profile": sys.getprofile()},
        "handler of logging": {
            id(each): repr(each)
            for name in ("", "tf_frame", "tensorflow")
            for each in logging.getLogger(name).handlers
        },
    }


def _open_files() -> dict[str, str]:
    files = {}
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{number}")
            if target.startswith("/") and not target.startswith(("/proc", "/dev", "/sys")):
                files[target] = target
    return files


def _still_held(before: dict[str, dict[Any, Any]]) -> list[str]:
    """What was not held before, in words; waits until threads that are ending have ended."""
    until = time.monotonic() + _WAIT_SECS
    while time.monotonic() < until and _new_threads(before):
        _new_threads(before)[0].join(0.05)
    gc.collect()
    after = _held()
    left = []
    for what, held in after.items():
        left += [
            f"the {what} {value if what.startswith(('thread', 'open', 'handler of l')) else key}"
            for key, value in held.items()
            if before[what].get(key, None if value is None else ...) != value
        ]
    return left


def _new_threads(before: dict[str, dict[Any, Any]]) -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.ident not in before["thread"]]
