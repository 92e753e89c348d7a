"""The training loop: prepared calls between the steps that hooks want.

    loop = TrainingLoop(graph, hooks)
    with monitored_session(graph, hooks=loop.hooks, ...) as session:
        loop.run(session)

On a step that some hook wants, the hooks run with it (`hooked_step`). In between
a prepared call runs the train op and fetches the loss, or one call runs many
steps (`--steps_per_loop`); no hook code runs, but that each is asked whether to
stop, and watched tensors are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from time import monotonic
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame.graph.step_loop import StepLoop
from tf_frame.session.hooked_step import run_hooked_step
from tf_frame.session.prepared import Prepared
from tf_frame.session.schedule import Schedule


class Steps(Protocol):
    """What the loop needs of a training graph; see `TrainGraph`."""

    @property
    def train_op(self) -> Any: ...
    @property
    def step_after(self) -> Any: ...
    @property
    def global_step(self) -> Any: ...
    @property
    def run_is_step(self) -> bool: ...
    @property
    def scalars(self) -> Sequence[Any]: ...


class TrainingLoop:
    """Runs the steps of a training graph.

    Args:
      graph: what to run.
      hooks: called in phase order.
      step_loop: many steps in one call, or None.
      sort: whether to bring the hooks into phase order; else they are called as given.

    Attributes:
      schedule: which hook wants which step.
      hooks: what the monitored session is to be given.
      global_step: the global step after the last step.
      loss: the loss of the last step, None before the first.
      stop_requested: whether a hook ended training, and not the end of the input.
    """

    def __init__(
        self,
        graph: Steps,
        hooks: Iterable[Any],
        *,
        step_loop: StepLoop | None = None,
        sort: bool = True,
    ) -> None:
        self.schedule = Schedule(hooks, sort=sort)
        self.hooks = [_Sessions(self), *self.schedule.hooks]
        self.global_step = 0
        self.loss: float | None = None
        self._graph = graph
        self._step_loop = step_loop
        self.stop_requested = False
        self._watching = self.schedule.watching()
        self._needed = self._needed_fetches()

    def run(self, session: Any) -> None:
        """Runs steps until a hook asks to stop or the input ends.

        Args:
          session: the `MonitoredSession`, made with `self.hooks`.
        """
        try:
            while not (session.should_stop() or self.stop_requested):
                session.run_step_fn(self._until_stopped)
        except tf.errors.OutOfRangeError:
            self.global_step = self._read_global_step()
        self.schedule.after_last_step(self.global_step)

    def begin_session(self, session: Any, coord: Any) -> None:
        """Called when the session has been made or made anew."""
        self._prepared, self._coord = Prepared(session), coord
        self.global_step = self._read_global_step()
        self._first_run = True

    def _read_global_step(self) -> int:
        return int(self._prepared.session.run(self._graph.global_step))

    def _until_stopped(self, step_context: Any) -> None:
        # After a lost session `step_context` still has the old one; begin_session has the new.
        del step_context
        try:
            while not self._stopping():
                until = self.schedule.next_step(self.global_step)
                if self.global_step + 1 < until and monotonic() < self.schedule.next_time():
                    self._run_without_hooks(until)
                else:
                    self._run_with_hooks()
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise
        except Exception:
            # What made a thread of the input fail is the cause, the failed step its effect.
            self._coord.raise_requested_exception()
            raise

    def _stopping(self) -> bool:
        # A stop that was requested once holds, also after a lost session.
        self.stop_requested = self.stop_requested or self.schedule.should_stop()
        return self.stop_requested or bool(self._coord.should_stop())

    def _run_with_hooks(self) -> None:
        outcome = run_hooked_step(
            self._prepared,
            self.schedule,
            train_op=self._graph.train_op,
            step_after=self._graph.step_after,
            last=self.global_step,
            scalars=self._graph.scalars,
        )
        self.stop_requested = self.stop_requested or outcome.stop
        self.global_step, self.loss, self._first_run = outcome.step, outcome.loss, False

    def _run_without_hooks(self, until: float) -> None:
        """Runs steps up to the one before `until`, the next that a hook wants."""
        many = self._step_loop is not None and self.global_step + 2 < until
        if many and self._first_run:
            self._run_observed()
        elif many:
            self._run_many(until)
        elif self._graph.run_is_step and self._watches_only_the_loss():
            self._run_counted(until)
        else:
            self._run_observed()
        self._first_run = False

    def _run_counted(self, until: float) -> None:
        """Single worker: every run is a step, so only the loss is fetched."""
        call, due = self._prepared.call(self._graph.train_op), self.schedule.next_time()
        watched, asks, must_stop = bool(self._watching), self.schedule.asks, self._coord.should_stop
        step, loss = self.global_step, self.loss
        try:
            while step + 1 < until:
                loss = call()
                step += 1
                if watched and not isfinite(loss):
                    self._tell_not_finite([loss] * len(self._watching), step)
                    break
                for ask in asks:
                    if ask():
                        self.stop_requested = True
                if self.stop_requested or must_stop() or monotonic() >= due:
                    break
        finally:
            self.global_step, self.loss = step, loss

    def _run_observed(self) -> None:
        """Runs once, and fetches the global step and what is watched beside the loss."""
        self.loss, step, watched = self._prepared.run(self._needed)
        self.global_step = int(step)
        self._look_at(watched, self.global_step)

    def _run_many(self, until: float) -> None:
        """Runs many steps in one call, which ends early where a watched tensor is not finite."""
        assert self._step_loop is not None
        count = int(min(self._step_loop.steps, until - 1 - self.global_step))
        self.loss, step, watched = self._step_loop.run(self._prepared.session, count)
        self.global_step = int(step)
        self._look_at(watched, self.global_step)

    def _needed_fetches(self) -> Any:
        watched = [hook.watched for hook in self._watching]
        return [self._graph.train_op, self._graph.step_after, watched]

    def _watches_only_the_loss(self) -> bool:
        return all(hook.watched is self._graph.train_op for hook in self._watching)

    def _look_at(self, watched: Iterable[Any], step: int) -> None:
        values = list(watched)
        if not all(map(isfinite, values)):
            self._tell_not_finite(values, step)

    def _tell_not_finite(self, values: Iterable[Any], step: int) -> None:
        context = tf.train.SessionRunContext(
            tf.train.SessionRunArgs(self._graph.train_op), self._prepared.session
        )
        for hook, value in zip(self._watching, values, strict=True):
            if not isfinite(value):
                hook.not_finite(context, value, step)
        self.stop_requested = self.stop_requested or context.stop_requested


class _Sessions(tf.train.SessionRunHook):
    """Tells the loop of sessions that begin; comes before all other hooks."""

    def __init__(self, loop: TrainingLoop) -> None:
        self._loop = loop

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._loop.begin_session(session, coord)
