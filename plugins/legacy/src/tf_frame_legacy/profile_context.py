"""`ProfileContext` of tf.contrib.tfprof, for scripts that profile session runs with tfprof.

Same behaviour as tensorflow/python/profiler/profile_context.py of TensorFlow 1, with
three exceptions: a run that fails is counted as well, the caller's `run_metadata` is
always filled, and a file that cannot be written does not end training.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

# `tf.Session` and `tf.InteractiveSession` inherit `run` from this class.
from tensorflow.python.client.session import BaseSession

from tf_frame.profiling.capture import warn_only
from tf_frame.profiling.run_metadata import run_options

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100

_VIEWS = {
    "scope": "profile_name_scope",
    "op": "profile_operations",
    "graph": "profile_graph",
    "code": "profile_python",
}
# While the traces cover less than this share of the graph's ops, 2 of 11 runs are traced.
_ENOUGH_COVERAGE = 0.5
_SEED = 111

_active: ProfileContext | None = None


class ProfileContext:
    """Traces some of the `session.run` calls inside the block, and writes `profile_<step>`.

        with ProfileContext(profile_dir) as context:
            train()

    A step is a call of `run` of any session, including initialisation, counted from 0;
    it is not a global step. Calls of `make_callable` functions are not counted, hence
    not the prepared steps of tf-frame's training loop, where no hook runs.

    Args:
      profile_dir: folder for the files.
      trace_steps: steps to trace, at most 100. None: from step 11 on, each new set of
        fetches once, and some more steps until enough of the graph is traced.
      dump_steps: steps after which `profile_<step>`, a serialised
        `tfprof.ProfileProto` of all traced steps, is written; None: step 100.
      enabled: whether to profile.
      debug: also write the run metadata of traced steps as text, `run_meta_<step>`.

    Raises:
      ValueError: no folder, or more than 100 steps to trace.
    """

    def __init__(
        self,
        profile_dir: str | None,
        trace_steps: Collection[int] | None = None,
        dump_steps: Collection[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        if enabled and not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if enabled and trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._enabled = enabled
        self._debug = debug
        self._folder = profile_dir or ""
        self._automatic = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else set(dump_steps)
        self._trace_next = self._dump_next = False
        self._auto_profiles: list[tuple[str, Any, set[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._step = self._traced = 0
        self._fetched: set[tuple[str, ...]] = set()
        self._random = random.Random(_SEED)
        self._lock = threading.Lock()
        self._profiler: Any = None
        self._original_run: Any = None

    @property
    def profiler(self) -> Any:
        """Returns the `tf.compat.v1.profiler.Profiler` of the traced steps; None if not enabled."""
        if self._enabled and self._profiler is None:
            self._profiler = tf.profiler.Profiler(tf.get_default_graph())
        return self._profiler

    def add_auto_profiling(self, cmd: str, options: Any, profile_steps: Collection[int]) -> None:
        """Traces some steps, and creates a view after each of them.

        Args:
          cmd: `scope`, `op`, `graph` or `code`.
          options: options from `tf.compat.v1.profiler.ProfileOptionBuilder`.
          profile_steps: the steps.

        Raises:
          ValueError: another `cmd`.
        """
        if not self._enabled:
            return
        if cmd not in _VIEWS:
            raise ValueError(f"Unknown cmd: {cmd}\n")
        self._auto_profiles.append((cmd, options, set(profile_steps)))
        self._trace_steps |= set(profile_steps)

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """Returns the views of `add_auto_profiling` by step.

        Raises:
          ValueError: there is no view of this `cmd`.
        """
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def trace_next_step(self) -> None:
        """Traces the next step."""
        self._trace_next = self._enabled

    def dump_next_step(self) -> None:
        """Writes the traced steps after the next step."""
        self._dump_next = self._enabled

    def __enter__(self) -> ProfileContext:
        global _active
        if not self._enabled:
            return self
        if _active is not None:
            raise tf.errors.InternalError(None, None, "Already in context or context not cleaned.")
        _active, self._original_run = self, BaseSession.run
        BaseSession.run = self._stand_in()
        return self

    def __exit__(self, *exception: object) -> None:
        global _active
        if self._enabled:
            BaseSession.run = self._original_run
            # TensorFlow has one profiler per process, which is deleted with its last reference.
            _active = self._profiler = None

    def _stand_in(self) -> Any:
        """Returns the replacement of `tf.Session.run` inside the block."""

        def run(
            session: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            return self._run(session, fetches, feed_dict, options, run_metadata)

        return run

    def _run(self, session: Any, fetches: Any, feeds: Any, options: Any, metadata: Any) -> Any:
        with self._counted() as step:
            if step is None or not self._traces(step, fetches):
                result = self._original_run(session, fetches, feeds, options, metadata)
            else:
                result = self._traced_run(step, session, fetches, feeds, options, metadata)
            if step is not None:
                self._dump_and_view(step)
            return result

    @contextlib.contextmanager
    def _counted(self) -> Iterator[int | None]:
        """Yields the number of a run; None, for no trace, while another thread has a run."""
        alone = self._lock.acquire(blocking=False)
        try:
            yield self._step if alone else None
        finally:
            self._step += 1
            if alone:
                self._trace_next = self._dump_next = False
                self._lock.release()

    def _traces(self, step: int, fetches: Any) -> bool:
        if self._traced > MAX_TRACED_STEPS:
            return False
        if step in self._trace_steps or self._trace_next:
            return True
        if not self._automatic or step <= WARMUP_STEPS:
            return False
        names = tuple(sorted(_names(fetches)))
        if names not in self._fetched:
            self._fetched.add(names)
            return True
        # The profiler has no public access to the share of the graph in its traces.
        unseen = self.profiler._coverage < _ENOUGH_COVERAGE
        return unseen and step < MAX_TRACED_STEPS and self._random.randint(0, 10) < 2

    def _traced_run(
        self, step: int, session: Any, fetches: Any, feeds: Any, options: Any, metadata: Any
    ) -> Any:
        self._traced += 1
        traced = tf.RunOptions()
        if options is not None:
            traced.CopyFrom(options)
        traced.trace_level = run_options(session.sess_str).trace_level
        metadata = tf.RunMetadata() if metadata is None else metadata
        result = self._original_run(session, fetches, feeds, traced, metadata)
        if self._debug:
            self._write(f"run_meta_{step}", str(metadata).encode())
        # Otherwise the profiler would use the operations of the graph that it was created with.
        self.profiler._graph = session.graph
        self.profiler.add_step(step, metadata)
        return result

    def _dump_and_view(self, step: int) -> None:
        if step in self._dump_steps or self._dump_next:
            self._write(f"profile_{step}", self.profiler.serialize_to_string())
        for cmd, options, steps in self._auto_profiles:
            if step in steps:
                view = getattr(self.profiler, _VIEWS[cmd])(options)
                self._views.setdefault(cmd, {})[step] = view

    def _write(self, name: str, data: bytes) -> None:
        path = os.path.join(self._folder, name)
        with warn_only(path):
            tf.io.gfile.makedirs(self._folder)
            with tf.io.gfile.GFile(path, "wb") as file:
                file.write(data)


def _names(fetches: Any) -> Iterator[str]:
    """Yields the names of all fetches; tf.nest cannot sort keys of several types."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from _names(fetch)
    else:
        yield getattr(fetches, "name", str(fetches))
