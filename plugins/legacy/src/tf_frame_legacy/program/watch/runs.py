"""Hooks for programs with loops of their own: `Session.run` calls them in runs that train."""

from __future__ import annotations

import contextlib
import functools
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

# `tf.Session` and `tf.InteractiveSession` inherit `run` from this class.
from tensorflow.python.client.session import BaseSession

from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.hooked_step import merge_options

# Operations that change a variable; initialisation and restoring only assign.
_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


class WatchedRuns:
    """Calls hooks in each run of a session that applies gradients.

    Args:
      make_hooks: makes the hooks of a session.
      times: gets the times of all steps and hooks.
    """

    def __init__(self, make_hooks: Callable[[], Sequence[Any]], times: StepTimes) -> None:
        self._make_hooks = make_hooks
        self._times = times
        self._steps = 0
        self._sessions: Any = weakref.WeakKeyDictionary()
        self._in_run = False
        self._run = BaseSession.run

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Watches all sessions within the block, and closes the hooks at its end."""
        watched = self

        @functools.wraps(self._run)
        def run(
            session: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            if watched._in_run or not trains(session.graph, fetches):
                return watched._run(session, fetches, feed_dict, options, run_metadata)
            return watched._run_hooked(session, fetches, feed_dict, options, run_metadata)

        BaseSession.run = run
        try:
            yield
        finally:
            BaseSession.run = self._run
            for hooks in self._sessions.values():
                for hook in hooks:
                    hook.close()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves all runs within the block alone: tf-frame's loop calls its own hooks."""
        before, self._in_run = self._in_run, True
        try:
            yield
        finally:
            self._in_run = before

    def _run_hooked(
        self, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        with self.paused():
            hooks = self._hooks(session)
            context = tf.train.SessionRunContext(
                tf.train.SessionRunArgs(fetches, feed_dict, options), session
            )
            began = time.monotonic()
            requests = {}
            for hook in hooks:
                requests[hook] = hook.before_run(context) or tf.train.SessionRunArgs(None)
                began = self._times.hook(hook, began, time.monotonic())
            options = _merged([*(r.options for r in requests.values()), options])
            if run_metadata is None and options is not None:
                run_metadata = tf.RunMetadata()
            extra = {hook: args.fetches for hook, args in requests.items() if args.fetches}
            values, results = self._run(session, [fetches, extra], feed_dict, options, run_metadata)
            began = self._times.session_call(began, time.monotonic())
            for hook in hooks:
                hook.after_run(
                    context,
                    tf.train.SessionRunValues(results.get(hook, {}), options, run_metadata),
                )
                began = self._times.hook(hook, began, time.monotonic(), ends=True)
            self._end_step(context, began)
        return values

    def _end_step(self, context: Any, ended: float) -> None:
        self._steps += 1
        self._times.step(ended)
        if self._times.on_step is not None:
            # Hooks note the global step, if the graph has one.
            self._times.on_step(getattr(context, "tf_frame_step", self._steps), ended)

    def _hooks(self, session: Any) -> Sequence[Any]:
        if session not in self._sessions:
            hooks = self._make_hooks()
            for hook in hooks:
                hook.begin()
                hook.after_create_session(session, tf.train.Coordinator())
            self._sessions[session] = hooks
        hooks_of_session: Sequence[Any] = self._sessions[session]
        return hooks_of_session


def _merged(options: Sequence[Any]) -> Any:
    """Returns all `RunOptions` in one; None if all are None."""
    given = [more for more in options if more is not None]
    if not given:
        return None
    merged = tf.RunOptions()
    for more in given:
        merge_options(merged, more)
    return merged


_trains: Any = weakref.WeakKeyDictionary()


def trains(graph: Any, fetches: Any) -> bool:
    """Returns whether a run of the fetches applies gradients to a variable."""
    operations = [_operation(graph, fetch) for fetch in _elements(fetches)]
    known = _trains.setdefault(graph, {})
    for operation in operations:
        if operation is not None and operation not in known:
            known[operation] = _applies_gradients(operation)
    return any(known.get(operation, False) for operation in operations)


def _elements(fetches: Any) -> Iterator[Any]:
    """Yields the fetches of a structure.

    A monitored session fetches a dict of its hooks and "caller", which `tf.nest` cannot sort.
    """
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from _elements(fetch)
    else:
        yield from tf.nest.flatten(fetches)


def _operation(graph: Any, fetch: Any) -> Any:
    try:
        element = graph.as_graph_element(fetch)
    except (TypeError, ValueError, KeyError):
        return None  # Not a tensor, or an error that the run will report.
    return getattr(element, "op", element)


def _applies_gradients(operation: Any) -> bool:
    seen, waiting = {operation}, [operation]
    while waiting:
        current = waiting.pop()
        if current.type.startswith(_UPDATES):
            return True
        before = [*(tensor.op for tensor in current.inputs), *current.control_inputs]
        waiting += [op for op in before if op not in seen]
        seen.update(before)
    return False
