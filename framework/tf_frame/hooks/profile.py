"""Profiles ranges of steps for TensorBoard's Profile tab and as a Chrome trace.

It shows what takes the time of a step: the input, single operations, or waiting
(`--profile_at_step`, `--profile_every_n_steps`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import NEVER, Cadence
from tf_frame.profiling.capture import Capture, only_warns, step_marker
from tf_frame.profiling.run_metadata import add_run_metadata, chrome_trace, run_options, write_trace

_LOG = logging.getLogger("tf_frame")


class RangeCadence(Cadence):
    """All steps of the ranges `[s, s + num_steps)`, once each; ranges may overlap.

    If the global step skips a whole range, the next step takes its place. Other
    skipped steps are lost. When a lost session is recreated from an earlier step,
    steps that were profiled before are not wanted again.

    Args:
      at_steps: first steps of ranges.
      num_steps: number of steps in each range.
      every_steps: further ranges begin at multiples of this number; None: no others.

    Raises:
      ConfigError: a number is not positive, or each range touches the next.
    """

    def __init__(
        self, at_steps: Iterable[int] = (), *, num_steps: int, every_steps: int | None = None
    ) -> None:
        at_steps = sorted(set(at_steps))
        if num_steps < 1:
            raise ConfigError(f"a profile of {num_steps} steps; it needs one at least")
        if at_steps and at_steps[0] < 1:
            raise ConfigError(f"a profile at step {at_steps[0]}; the first step is 1")
        if every_steps is not None and every_steps <= num_steps:
            raise ConfigError(
                f"a profile of {num_steps} steps every {every_steps} steps never ends; make the "
                "profiles shorter, or further apart"
            )
        self._num_steps = num_steps
        self._reached = 0
        super().__init__(at_steps=at_steps, every_steps=every_steps)

    def start(self, step: int) -> None:
        self._reached = max(self._reached, step)

    def mark(self, step: int) -> None:
        self._reached = step

    def next_step(self) -> float:
        return self._next_after(self._reached)

    def ends_at(self, step: int) -> bool:
        """True if a range ends at `step`."""
        return self._next_after(step) > step + 1

    def begin_of(self, step: int) -> int:
        """The step at which the range of `step` begins by the arguments."""
        begins = [s for s in self.at_steps if s <= step]
        if self.every_steps is not None and step >= self.every_steps:
            begins.append(step - step % self.every_steps)
        return max(begins, default=step)

    def _next_after(self, step: int) -> float:
        """The first step after `step` that is in a range, `NEVER` if there is none."""
        after = step + 1
        begins = [max(after, s) for s in self.at_steps if after < s + self._num_steps]
        if self.every_steps is not None:
            into = after % self.every_steps
            inside = after >= self.every_steps and into < self._num_steps
            begins.append(after if inside else after - into + self.every_steps)
        return min(begins, default=NEVER)

    def __str__(self) -> str:
        last = self._num_steps - 1
        parts = [f"{s} to {s + last}" if last else str(s) for s in self.at_steps]
        if self.every_steps is not None:
            parts.append(f"{self._num_steps} from every {self.every_steps}th on")
        return "steps " + ", ".join(parts) if parts else "no step"


class ProfileHook(Hook):
    """Profiles the steps `[s, s + num_steps)` for each `s`.

    Step `s` is the run that increments the global step to `s`, so the first step
    of a new training is 1. The hook does not run at any other step. A session that
    begins within a range profiles the rest of the range. The end of training, or a
    lost session, ends and writes a profile. An error in a step does not notify
    hooks: put `contextlib.closing` around the session.

    Files of a range:

    * `plugins/profile/<time>_step_<s>/<host>_<job>_<task>.xplane.pb` for the
      Profile tab, with a mark for each step;
    * run metadata of the first `metadata_steps` steps, as `profile_<step>` on
      the graphs page, and `timeline-<step>.json` for ui.perfetto.dev.

    Run metadata makes a step slower (docs/profiling.md has numbers), which shows in
    the capture. So by default only the first step has run metadata: it is slower
    anyway, because TensorFlow optimises the graph for its new run options.

    Errors of the profiler, and of writing files, are logged; training goes on.

    Args:
      model_dir: TensorBoard's folder. The event file and timelines of the chief are
        written there, those of other tasks in its folder `<job>_<task>`.
      at_steps: global steps at which a range begins.
      num_steps: steps in each range.
      every_steps: further ranges begin at the multiples of this number; None: none.
      metadata_steps: steps of each range with run metadata.
      job: name of this task's job.
      task: index of this task in the job.
      is_chief: whether this task is the chief.
      began: returns the time in the names of the captures, seconds since 1970, so that the tasks
        of a job share a run of the Profile tab; None: when a capture ends.
      tell: called with the label of a range and True at its begin, False at its end.

    Raises:
      ConfigError: a number that is not positive, or ranges without end.
    """

    phase = Phase.OBSERVE
    cadence: RangeCadence

    def __init__(
        self,
        model_dir: str,
        *,
        at_steps: Iterable[int] = (),
        num_steps: int = 5,
        every_steps: int | None = None,
        metadata_steps: int = 1,
        job: str = "worker",
        task: int = 0,
        is_chief: bool = True,
        began: Callable[[], float] | None = None,
        tell: Callable[[str, bool], None] = lambda label, begins: None,
    ) -> None:
        super().__init__(RangeCadence(at_steps, num_steps=num_steps, every_steps=every_steps))
        self._model_dir = model_dir
        self._began = began
        self._tell = tell
        self._task = f"{job}_{task}"
        self._folder = model_dir if is_chief else os.path.join(model_dir, self._task)
        self._metadata_steps = metadata_steps
        self._first: int | None = None
        self._capture: Capture | None = None
        self._marker: Any = None
        self._metadata_left = 0

    def start(self, session: Any, step: int) -> None:
        self.close()  # Ends the profile of a lost session.
        super().start(session, step)
        self._session = session

    def before_step(self, run_context: Any, step: int) -> Any:
        if self._first is None:
            self._begin(step)
        if self._marker is None:  # A step of accumulated gradients has several runs.
            self._marker = step_marker(step)
        if self._metadata_left:
            return tf.train.SessionRunArgs(None, options=run_options(self._session.sess_str))
        # With empty options, since a run without options would prepare another call.
        return tf.train.SessionRunArgs(None, options=tf.RunOptions())

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._end_marker()
        if self._metadata_left:
            self._metadata_left -= 1
            self._write_metadata(run_values.run_metadata, step)
        if self.cadence.ends_at(step):
            self.close()

    def close(self) -> None:
        self._end_marker()
        first, capture = self._first, self._capture
        self._first = self._capture = None
        if capture is None:
            return
        with only_warns(f"the profile that began at step {first}"):
            label = self._label(first)
            self._tell(label, False)
            path = capture.save(
                self._model_dir,
                label=label,
                task=self._task,
                began=self._began() if self._began else None,
            )
            _LOG.info("profile from step %d: %s", first, path)

    def _begin(self, step: int) -> None:
        self._first, self._metadata_left = step, self._metadata_steps
        capture = Capture()
        with only_warns(f"the profile from step {step}"):
            self._tell(self._label(step), True)
            capture.start()
            self._capture = capture

    def _label(self, first: int | None) -> str:
        # The tasks of a job may come into a range at different steps.
        return f"step_{first if self._began is None or not first else self.cadence.begin_of(first)}"

    def _end_marker(self) -> None:
        if self._marker is not None:
            self._marker.__exit__(None, None, None)
            self._marker = None

    def _write_metadata(self, run_metadata: Any, step: int) -> None:
        with only_warns(f"the Chrome trace of step {step}"):
            path = os.path.join(self._folder, f"timeline-{step}.json")
            write_trace(path, chrome_trace(run_metadata))
        with only_warns(f"the run metadata of step {step}"), self._session.graph.as_default():
            # The first caller that gets the writer makes it write the default graph.
            writer = tf.summary.FileWriterCache.get(self._folder)
            add_run_metadata(writer, run_metadata, f"profile_{step}", step)
            writer.flush()
