"""Hooks for programs with loops of their own: `Session.run` calls them in runs that train."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

# `tf.Session` and `tf.InteractiveSession` inherit `run` from this class.
from tensorflow.python.client.session import BaseSession

from tf_frame.session.hooked_step import merge_options

# Operations that change a variable; initialisation and restoring only assign.
_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


class WatchedRuns:
    """Calls hooks in each run of a session that applies gradients.

    Args:
      make_hooks: makes the hooks of a session.
    """

    def __init__(self, make_hooks: Callable[[], Sequence[Any]]) -> None:
        self._make_hooks = make_hooks
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
            requests = {hook: hook.before_run(context) for hook in hooks}
            options, metadata = _merged(options, requests.values()), run_metadata
            if metadata is None and options is not None:
                metadata = tf.RunMetadata()
            extra = {
                hook: args.fetches
                for hook, args in requests.items()
                if args is not None and args.fetches
            }
            values, results = self._run(session, [fetches, extra], feed_dict, options, metadata)
            for hook in hooks:
                run_values = tf.train.SessionRunValues(results.get(hook, {}), options, metadata)
                hook.after_run(context, run_values)
        return values

    def _hooks(self, session: Any) -> Sequence[Any]:
        if session not in self._sessions:
            hooks = self._make_hooks()
            for hook in hooks:
                hook.begin()
                hook.after_create_session(session, tf.train.Coordinator())
            self._sessions[session] = hooks
        hooks = self._sessions[session]
        return hooks


def _merged(options: Any, requests: Any) -> Any:
    asked = [args.options for args in requests if args is not None and args.options is not None]
    if not asked:
        return options
    merged = tf.RunOptions()
    for more in [*asked, *([options] if options is not None else [])]:
        merge_options(merged, more)
    return merged


_trains: Any = weakref.WeakKeyDictionary()


def trains(graph: Any, fetches: Any) -> bool:
    """Returns whether a run of the fetches applies gradients to a variable."""
    operations = [_operation(graph, fetch) for fetch in tf.nest.flatten(fetches)]
    known = _trains.setdefault(graph, {})
    for operation in operations:
        if operation is not None and operation not in known:
            known[operation] = _applies_gradients(operation)
    return any(known.get(operation, False) for operation in operations)


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
