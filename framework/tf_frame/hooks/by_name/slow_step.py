"""`SlowStepHook`: writes the stacks of all threads while a step hangs (`--hook slow_step`).

The stacks show why the step waits, such as for the input, a parameter server or a slow disk.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import logging
import os
import statistics
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.training_clock import training_clock
from tf_frame.plugin import HookContext
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")
_POLLS_PER_FLOOR = 4
_WARMUP_STEPS = 10
# Shorter times are two calls of `should_stop` between two steps, not a step.
_NO_STEP_SECS = 1e-5


@dataclasses.dataclass(eq=False)
class SlowStepHook(Hook):
    """Writes the stacks of all threads while a step takes far longer than usual.

    A thread measures the steps. A step is slow if it takes more than
    `max(times * median, floor_secs)`, with the median of the last 100 steps; the first ten steps
    of a session are never slow. Work between two steps, such as saving a checkpoint, belongs to
    the earlier step; evaluations do not count. A call of several steps counts as one step. The
    stacks are written once per slow step, to the log and to `slow_steps.log`.

    Args:
      model_dir: folder of `slow_steps.log`.
      task: index of the worker; workers other than 0 write `slow_steps_TASK.log`.
      times: multiple of the median.
      floor_secs: a step of fewer seconds is never slow.
      pause_secs: least seconds between two reports.
      every_steps: steps between corrections of the hook's own step counter, which is only used
        in reports.
      profile_steps: number of steps to profile after a slow one, in a run of tf-frame; 0: none.
      on_slow: called after a slow step, in the training thread, with its global step.

    Attributes:
      slow_steps: the global steps that were reported.

    Raises:
      ValueError: a number that is not positive, or `times` not above 1.
    """

    phase = Phase.LOG
    option = "--hook slow_step"
    model_dir: str
    _: dataclasses.KW_ONLY
    times: float = 10.0
    floor_secs: float = 5.0
    pause_secs: float = 60.0
    every_steps: int = 100
    task: int = 0
    profile_steps: int = 0
    on_slow: Callable[[int], None] = lambda step: None

    def __post_init__(self) -> None:
        if self.times <= 1 or self.floor_secs <= 0 or self.pause_secs < 0:
            raise ValueError(
                f"times is {self.times}, floor_secs {self.floor_secs}, pause_secs "
                f"{self.pause_secs}; the first must be above 1, the second positive, the third "
                "not negative"
            )
        name = f"slow_steps_{self.task}.log" if self.task else "slow_steps.log"
        self._path = os.path.join(self.model_dir, name)
        self._request_profile: Callable[[str, int], None] = lambda label, steps: None
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._reported_at = -float("inf")
        self.slow_steps: list[int] = []
        super().__init__(Cadence(every_steps=self.every_steps))

    def join_run(self, context: HookContext) -> None:
        super().join_run(context)
        self._request_profile = context.request_profile

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self.close()
        self._durations: collections.deque[float] = collections.deque(maxlen=100)
        self._step, self._slow = step, 0
        self._began: float | None = None
        self._closed.clear()
        # A weak reference, so that the thread ends when the hook is deleted.
        arguments = (weakref.ref(self), self._closed, self.floor_secs / _POLLS_PER_FLOOR)
        self._thread = threading.Thread(
            target=_watch, args=arguments, name="tf-frame-slow-step", daemon=True
        )
        self._thread.start()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        # The next call of `should_stop` counts this step.
        self._step = step - 1

    def should_stop(self) -> bool:
        now = training_clock()
        if self._began is not None and now - self._began > _NO_STEP_SECS:
            self._step += 1
            self._durations.append(now - self._began)
        self._began = now
        if self._slow:
            slow, self._slow = self._slow, 0
            self.on_slow(slow)
            if self.profile_steps:
                self._request_profile(f"slow_step_{slow}", self.profile_steps)
        return False

    def close(self) -> None:
        if self._thread is not None:
            self._closed.set()
            self._thread.join()
            self._thread = None

    def look(self) -> None:
        """Reports the current step if it is slow; called by the thread."""
        began, now, durations = self._began, training_clock(), list(self._durations)
        if began is None or self._slow or len(durations) < _WARMUP_STEPS:
            return
        median = statistics.median(durations)
        too_long = now - began > max(self.times * median, self.floor_secs)
        if too_long and now - self._reported_at >= self.pause_secs:
            self._reported_at = now
            self._slow = self._step + 1
            self.slow_steps.append(self._slow)
            self._report(now - began, median)

    def _report(self, secs: float, median: float) -> None:
        text = (
            f"step {self._slow} has taken {secs:.3g} s by now; the median is {median:.3g} s. "
            f"The stacks of all threads:\n{stacks()}"
        )
        _LOG.warning("%s", text)
        when = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        with tf.io.gfile.GFile(self._path, "a") as file:
            file.write(f"{when} {text}\n\n")


def _watch(hook: Callable[[], SlowStepHook | None], closed: Any, poll_secs: float) -> None:
    """Calls `look` of a hook until it is closed or deleted."""
    while not closed.wait(poll_secs):
        present_hook = hook()
        if present_hook is None:
            return
        present_hook.look()
        del present_hook


def stacks() -> str:
    """Returns the Python stacks of all other threads, each under its name."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    present_thread = threading.get_ident()
    # faulthandler can only print to a file, and without the names of threads.
    return "\n".join(
        f"thread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame)).rstrip()}"
        for ident, frame in sys._current_frames().items()
        if ident != present_thread
    )
