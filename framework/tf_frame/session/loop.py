"""`TrainingLoop`: runs training steps, and calls each hook only at the steps that it wants.

    loop = TrainingLoop(graph, Schedule(hooks))
    with monitored_session(graph, hooks=loop.hooks, ...) as session:
        loop.run(session)

`MonitoredSession.run` calls all hooks at every step, which makes short steps slower. Here a hook
runs only at the steps of its cadence (`hooked_step`). Steps without hooks are prepared calls, of
one step or of many steps (`--steps_per_loop`). After such a call the loop checks the tensors that
hooks watch for NaN and infinity, and asks the hooks whether to end training.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.step_loop import StepLoop
from tf_frame.hooks.base import REPLAN, Phase
from tf_frame.hooks.training_clock import training_clock
from tf_frame.plugin.fault import note_failed_step
from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.hooked_step import StepFetches, Steps, run_hooked_step
from tf_frame.session.prepared import PreparedCalls
from tf_frame.session.schedule import Schedule
from tf_frame.types import Session


@dataclasses.dataclass(eq=False)
class TrainingLoop(tf.train.SessionRunHook):
    """Runs the steps of a training graph.

    The loop is the last hook of its session. So TensorFlow gives the loop each new session and its
    coordinator: the first session, and a session after a lost one.

    Args:
      steps: the training graph.
      schedule: the hooks and their cadences.
      step_loop: many steps in one call, or None.
      check_error: called with an error of a step; may raise another error instead.
      times: measures the steps and hooks.

    Attributes:
      hooks: the hooks of the monitored session, with the loop as the last one.
      global_step: the global step after the last step.
      loss: the loss of the last step, None before the first.
      stop_requested: whether a hook ended training, and not the end of the input.
      request: function to call once between two steps; then the cadences are asked again. A
        signal handler may set it. The loop calls it when no profile is being made.
    """

    phase = Phase.STOP

    steps: Steps
    schedule: Schedule
    _: dataclasses.KW_ONLY
    step_loop: StepLoop | None = None
    check_error: Callable[[Exception], None] = lambda error: None
    times: StepTimes = dataclasses.field(default_factory=StepTimes)

    def __post_init__(self) -> None:
        self.hooks = [*self.schedule.hooks, self]
        self.global_step = 0
        self.loss: Any = None
        self.stop_requested = False
        self.request: Callable[[], None] | None = None
        self._fetches = StepFetches(self.steps, self.schedule.watching)

    def run(self, monitored: Any) -> None:
        """Runs steps until a hook asks to stop or the input ends.

        Args:
          monitored: the `MonitoredSession`, made with `self.hooks`; it makes a new session after
            a lost one.
        """
        try:
            while not (monitored.should_stop() or self.stop_requested):
                monitored.run_step_fn(self._run_steps)
        except tf.errors.OutOfRangeError:
            self.global_step = self._read_global_step()
        self.schedule.after_last_step(self.global_step)

    def after_create_session(self, session: Session, coord: Any) -> None:
        """Takes over a new session, after all other hooks, which may change its variables."""
        self._prepared, self._coord = PreparedCalls(session), coord
        # A hook may end training before its first step.
        self.stop_requested = self.stop_requested or coord.should_stop()
        # Prepared at first use: with a hook at every step they are never used.
        self._run_one: Callable[[], Sequence[Any]] | None = None
        self._run_many: Callable[[float], Sequence[Any]] | None = None
        self._began_at = self.global_step = self._read_global_step()
        self.times.begin(training_clock())

    def _run_steps(self, step_context: Any) -> None:
        # After a lost session step_context still has the lost one.
        del step_context
        try:
            until, due = self.schedule.next(self.global_step)
            stop = self._should_stop()
            while not stop:
                if self.global_step + 1 < until and monotonic() < due:
                    stop = self._run_quietly(until, due)
                else:
                    self._run_with_hooks()
                    until, due = self.schedule.next(self.global_step)
                    stop = self._should_stop()
        except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
            self.check_error(error)
            raise
        except Exception as error:
            self.check_error(error)
            note_failed_step(error, self.global_step + 1, self._prepared.session.graph)
            # An error in a thread of the input is the cause, the failed step its effect.
            self._coord.raise_requested_exception()
            raise

    def _run_with_hooks(self) -> None:
        values, stop = run_hooked_step(
            self._prepared,
            self.schedule,
            self._fetches,
            last=self.global_step,
            times=self.times,
        )
        self.loss, self.global_step = values[0], int(values[1])
        self.stop_requested = self.stop_requested or stop

    def _run_quietly(self, until: float, due: float) -> bool:
        """Runs the steps before step `until` and time `due`; with a step loop, only one call.

        The loop is all Python between two quiet steps, so every attribute access counts.

        Returns:
          Whether to stop training.
        """
        call, not_finite, now = self._quiet_call(until), self._fetches.not_finite, monotonic
        count = self.times.step
        while True:
            values, last = call(), self.global_step
            self.loss, self.global_step = values[0], int(values[1])
            count(training_clock(), self.global_step - last or 1)
            if not_finite(values):
                self._report_not_finite(values)
            if self._should_stop():
                return True
            if self.step_loop or self.global_step + 1 >= until or now() >= due:
                return False

    def _quiet_call(self, until: float) -> Callable[[], Sequence[Any]]:
        """Returns a function that runs a step, or many steps before `until`."""
        left = until - 1 - self.global_step
        if self.step_loop and left > 1 and self.global_step > self._began_at:
            self._run_many = self._run_many or self.step_loop.prepare(self._prepared.session)
            return functools.partial(self._run_many, left)
        self._run_one = self._run_one or self._prepared.call(self._fetches.tensors)
        return self._run_one

    def _report_not_finite(self, values: Sequence[Any]) -> None:
        context = tf.train.SessionRunContext(
            tf.train.SessionRunArgs(self.steps.train_op), self._prepared.session
        )
        for hook, value in self._fetches.not_finite(values).items():
            hook.not_finite(context, value, self.global_step)
        self.stop_requested = self.stop_requested or context.stop_requested

    @property
    def _is_recorded(self) -> bool:
        """True while a profile of the present steps is being made."""
        return self.times.on_step is not None

    def add_hook(self, hook: Any) -> None:
        """Adds a hook between two steps; the caller closes it."""
        hook.start(self._prepared.session, self.global_step)
        self.schedule.add(hook)

    def _should_stop(self) -> bool:
        if self.request is not None and not self._is_recorded:
            request, self.request = self.request, None
            request()
            return True
        # A stop that was requested once holds, also after a lost session.
        answer = self.stop_requested or self.schedule.should_stop()
        self.stop_requested = bool(answer) and answer is not REPLAN
        return bool(answer) or bool(self._coord.should_stop())

    def _read_global_step(self) -> int:
        return int(self._prepared.session.run(self.steps.global_step))
