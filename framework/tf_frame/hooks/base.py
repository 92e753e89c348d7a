"""`Hook`, the base class of tf-frame's session hooks, and `Phase`, their order within a step.

Unlike a plain `SessionRunHook`, a `Hook` has a cadence, the steps at which it runs
(`hooks.cadence`). So the training loop can run all other steps without Python code of hooks.

After a step, hooks run in this order:

    for phase in (transform, check, observe, log, save, evaluate, stop):
        for hook in the hooks of this phase that want the step:
            hook.after_step(...)

An exception ends the step, and no later hook runs. So a step that a hook of the check phase
rejects is never saved, and a step that is saved has been logged.
"""

from __future__ import annotations

import contextlib
import enum
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.cadence import Cadence
from tf_frame.plugin import HookContext
from tf_frame.types import Session, Tensor


class Phase(enum.IntEnum):
    """Position of a hook within a step."""

    TRANSFORM = 0
    CHECK = 1
    OBSERVE = 2
    LOG = 3
    SAVE = 4
    EVALUATE = 5
    STOP = 6


# An answer of `should_stop`: training goes on, but the cadence of the hook has changed.
REPLAN: Any = "replan"


class Hook(tf.train.SessionRunHook):
    """A session hook with a cadence, the steps at which it runs.

    A subclass gives the constructor its cadence, and overrides `before_step`, `after_step` and,
    if necessary, `begin`, `start`, `end`, `close`, `should_stop`. In tf-frame's loop no code of
    the hook runs at other steps. Sessions of TensorFlow, such as `MonitoredTrainingSession`, call
    the same methods at the same steps. Numbers of steps and seconds must be positive; else the
    constructor of a hook raises a `ValueError`.

    Args:
      cadence: the steps at which the hook runs; None: no step.

    Attributes:
      phase: the position of the hook within a step.
      option: the option of a run that makes the hook, such as `--log_every_n_steps`; empty: none.
      cadence: the steps at which it runs.
      watched: scalar float tensor that is checked in every step, or None;
        `not_finite` is called if it is NaN or infinite, in the hook's phase.
      counts_runs: whether the cadence counts runs instead of global steps in a session of
        TensorFlow, where the global step need not move. Without a global step in the graph,
        every hook counts runs.
      asked_between_steps: whether `should_stop` of a subclass is called between all steps, and
        not only when a session has been opened.
      report: function that takes a line for the user; a run shows the line on the screen,
        without a run the line is ignored.
      both_protocols: whether a subclass overrides `before_run` and `after_run` only for sessions
        of TensorFlow, and tf-frame's loop calls the methods of `Hook`.
    """

    phase = Phase.OBSERVE
    option = ""
    watched: Tensor = None
    counts_runs = False
    both_protocols = False
    asked_between_steps = True
    report: Callable[[str], None] = staticmethod(lambda text: None)

    def __init__(self, cadence: Cadence | None = None) -> None:
        self.cadence = Cadence() if cadence is None else cadence

    def join_run(self, context: HookContext) -> None:
        """Called by a run of tf-frame before the first session, with facts about the run.

        Hooks of a model or a script are made without these facts.

        Args:
          context: facts about the run.
        """
        self.report = context.report

    def start(self, session: Session, step: int) -> None:
        """Called when a session has been opened or opened again, and restored.

        Args:
          session: the `tf.Session`.
          step: its global step; the first step to be run is the next one.
        """
        self.cadence.start(step)

    def before_step(self, run_context: Any, step: int) -> Any:
        """Returns tensors to run with a step that the hook wants.

        Args:
          run_context: the `tf.compat.v1.train.SessionRunContext`.
          step: the expected global step after this step; with several workers, or
            with accumulated gradients, the actual one can differ.

        Returns:
          A `tf.compat.v1.train.SessionRunArgs`, or None for nothing.
        """
        return None

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        """Called after a step that the hook wants.

        Args:
          run_context: as in `before_step`; `request_stop()` ends training.
          run_values: the `SessionRunValues` of the tensors of `before_step`.
          step: the global step after this step.
        """

    def should_stop(self) -> bool:
        """Returns true to end training; called between all steps and before the first step.

        The method must be quick. `REPLAN` makes tf-frame's loop ask the cadences again.
        """
        return False

    def after_last_step(self, step: int) -> None:
        """Called by tf-frame's loop after training without an error, before any hook's `end`.

        Args:
          step: the global step after training.
        """

    def fail_before_first_step(self) -> None:
        """Called by tf-frame's loop after a training that failed before its first step ended."""

    def end(self, session: Session) -> None:
        """Called after training without an error.

        Args:
          session: the `tf.Session`, still open.
        """
        self.close()

    def close(self) -> None:
        """Releases resources of the hook; also called after an error, perhaps twice."""

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        """Called after a step if `watched` is not finite.

        Args:
          run_context: as in `before_step`.
          value: the value of `watched`.
          step: the global step after this step.
        """

    # Methods of SessionRunHook, which sessions of TensorFlow call.

    def after_create_session(self, session: Session, coord: Any) -> None:
        with session.graph.as_default():
            global_step = tf.train.get_global_step()
            self._read = None if global_step is None else step_after_run()
        self._by_runs = self.counts_runs or global_step is None
        # Only graphs of tf-frame have a read of the global step after the update.
        self._reads_separately = self._read is global_step
        self._last = 0 if self._by_runs else int(session.run(global_step))
        self.start(session, self._last)
        if self.should_stop():
            coord.request_stop()

    def before_run(self, run_context: Any) -> Any:
        self._wanted = self.cadence.wants(self._last + 1)
        args = self.before_step(run_context, self._last + 1) if self._wanted else None
        fetches = {} if self._by_runs or self._reads_separately else {"step": self._read}
        if self.watched is not None:
            fetches["watched"] = self.watched
        if args is None:
            return tf.train.SessionRunArgs(fetches)
        if args.fetches is not None:
            fetches["hook"] = args.fetches
        return tf.train.SessionRunArgs(fetches, args.feed_dict, args.options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        results = run_values.results
        self._last = self._step_after(run_context, results)
        if self.watched is not None and not math.isfinite(results["watched"]):
            self.not_finite(run_context, results["watched"], self._last)
        # With accumulated gradients a run need not be a step.
        if self._wanted and self.cadence.wants(self._last):
            hook_values = run_values._replace(results=results.get("hook"))
            self.after_step(run_context, hook_values, self._last)
            self.cadence.mark(self._last)
        if self.should_stop():
            run_context.request_stop()

    def _step_after(self, run_context: Any, results: Any) -> int:
        if self._by_runs:
            return self._last + 1
        if not self._reads_separately:
            return int(results["step"])
        # All hooks share one read per run.
        if not hasattr(run_context, "tf_frame_step"):
            run_context.tf_frame_step = int(run_context.session.run(self._read))
        return int(run_context.tf_frame_step)


def in_phase_order(hooks: Iterable[Any]) -> list[Any]:
    """Sorts hooks by phase; those without one count as observers."""
    return sorted(hooks, key=lambda hook: getattr(hook, "phase", Phase.OBSERVE))


@contextlib.contextmanager
def closing_all(hooks: Iterable[Any]) -> Iterator[None]:
    """Calls `close()` of the hooks that have the method, also after an error."""
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            if hasattr(hook, "close"):
                stack.callback(hook.close)
        yield
