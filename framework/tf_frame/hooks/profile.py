"""`ProfileHook`: records ranges of steps for TensorBoard's Profile tab and as Chrome traces.

A profile shows whether the input, single operations or waiting take the time of a step
(`--profile_at_step`, `--profile_every_n_steps`).
"""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import NEVER, Cadence
from tf_frame.hooks.summary import cached_writer
from tf_frame.hooks.training_clock import pause
from tf_frame.profiling.capture import Capture, step_marker, unused_path, warn_only
from tf_frame.profiling.profile_folders import XPLANE, list_folders, retain
from tf_frame.profiling.recorder import Recorder
from tf_frame.profiling.run_metadata import add_run_metadata, chrome_trace, run_options, write_trace
from tf_frame.profiling.step_profile import SUFFIX, to_bytes
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")
_STEP_LABEL = re.compile(r"_step_([0-9]{1,18})(?:_[0-9]+)?$")


class RangeCadence(Cadence):
    """All steps of the ranges `[s, s + num_steps)`, once each; ranges may overlap.

    If the global step skips a whole range, the next step is wanted instead; other skipped steps
    are lost. After a lost session, steps that were profiled before are not wanted again.

    Args:
      at_steps: first steps of ranges.
      num_steps: number of steps in each range.
      every_steps: further ranges begin at multiples of this number; None: no further ranges.

    Raises:
      ConfigError: a number is not positive, or each range touches the next.
    """

    def __init__(
        self, at_steps: Iterable[int] = (), *, num_steps: int, every_steps: int | None = None
    ) -> None:
        at_steps = sorted(set(at_steps))
        if num_steps < 1:
            raise ConfigError(f"a profile of {num_steps} steps; it needs at least one")
        if at_steps and at_steps[0] < 1:
            raise ConfigError(f"a profile at step {at_steps[0]}; the first step is 1")
        if every_steps is not None and every_steps <= num_steps:
            raise ConfigError(
                f"a profile of {num_steps} steps every {every_steps} steps never ends; make the "
                "profiles shorter, or further apart"
            )
        self._num_steps = num_steps
        self._reached = 0
        # The first step of a range that an earlier run did not complete.
        self._made_up: tuple[int, ...] = ()
        super().__init__(at_steps=at_steps, every_steps=every_steps)

    def start(self, step: int) -> None:
        self._reached = max(self._reached, step)

    def make_up(self, step: int) -> None:
        """Adds a range that begins after `step`."""
        self._made_up = (step + 1,)

    def mark(self, step: int) -> None:
        self._reached = step

    def next_step(self) -> float:
        return self._next_after(self._reached)

    def ends_at(self, step: int) -> bool:
        """True if a range ends at `step`."""
        return self._next_after(step) > step + 1

    def range_begin(self, step: int) -> int:
        """Returns the first step of the range with `step`, by the arguments."""
        return self.last_begin(step) or step

    def last_begin(self, step: int) -> int | None:
        """Returns the first step of the last range that begins at `step` or before."""
        begins = [s for s in self.at_steps if s <= step]
        if self.every_steps is not None and step >= self.every_steps:
            begins.append(step - step % self.every_steps)
        return max(begins, default=None)

    def _next_after(self, step: int) -> float:
        """Returns the first step after `step` that is in a range, `NEVER` without one."""
        after = step + 1
        firsts = (*self.at_steps, *self._made_up)
        begins = [max(after, s) for s in firsts if after < s + self._num_steps]
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


class OwnSteps(RangeCadence):
    """A number of steps of this task from a global step on; steps of other tasks do not count."""

    def __init__(self, first: int, num_steps: int) -> None:
        self._steps_left = num_steps
        super().__init__([first], num_steps=num_steps)

    def mark(self, step: int) -> None:
        super().mark(step)
        self._steps_left -= 1

    def next_step(self) -> float:
        return max(self._reached + 1, self.at_steps[0]) if self._steps_left > 0 else NEVER

    def ends_at(self, step: int) -> bool:
        return self._steps_left <= 1  # Asked before `mark`.


@dataclasses.dataclass(eq=False)
class ProfileHook(Hook):
    """Profiles the steps `[s, s + num_steps)` for each `s`.

    Step `s` is the run that increments the global step to `s`, so the first step of a new
    training is 1. A session that begins within a range profiles the rest of the range; if the
    folder has no profile from step `s` or later, because an earlier run was killed, the first steps
    of the session are profiled. The end of training, or a lost session, ends and writes a profile.
    TensorFlow does not notify hooks of an error in a step: put `contextlib.closing` around the
    session.

    Files of a range:

    * `plugins/profile/<time>_step_<s>/<host>_<task>.xplane.pb` for the Profile tab, with a mark for
      each step;
    * run metadata of the first step, as `profile_<step>` on the graphs page, and
      `timeline-<step>.json` for ui.perfetto.dev;
    * with a recorder, `<host>_<task>.steps.json.gz` next to the capture, with the
      operations, memory and hooks of all steps, for `tf-frame profile show`.

    Run metadata makes a step slower (docs/performance/profiling.md has numbers), also in the
    capture. So without a recorder only the first step has run metadata: this step is slow anyway,
    because TensorFlow optimises the graph for the new run options.

    Errors of the profiler, and of writing files, are reported; training goes on.

    Args:
      model_dir: TensorBoard's folder. The chief writes its event file and timelines there,
        other tasks into a subfolder with the name of the task.
      at_steps: global steps at which a range begins.
      num_steps: steps in each range.
      every_steps: further ranges begin at the multiples of this number; None: none.
      own_steps: whether only steps of this task count, for a single range.
      recorder: records the steps; None: no report.
      keep: number of captures to keep in the folder; None: all.
      task: name of this task, `<job>_<index>`.
      is_chief: whether this task is the chief.
      began: returns the time in the names of the captures, seconds since 1970, which groups the
        tasks of a job in one run of the Profile tab; None: the time when a capture ends.
      label: name of the captures, after the time; None: `step_<s>`.
      tell: called with the label of a capture, and True at its begin or False at its end.
      report: takes a line about a file that cannot be written; default: the log of tf-frame.

    Raises:
      ConfigError: a number that is not positive, or ranges without end.
    """

    phase = Phase.OBSERVE
    option = "--profile_at_step"
    model_dir: str
    _: dataclasses.KW_ONLY
    at_steps: Iterable[int] = ()
    num_steps: int = 5
    every_steps: int | None = None
    own_steps: bool = False
    recorder: Recorder | None = None
    keep: int | None = None
    task: str = "worker_0"
    is_chief: bool = True
    began: Callable[[], float] | None = None
    label: str | None = None
    tell: Callable[[str, bool], None] = lambda label, begins: None
    report: Callable[[str], None] = _LOG.warning

    def __post_init__(self) -> None:
        self.cadence: RangeCadence = (
            OwnSteps(min(self.at_steps), self.num_steps)
            if self.own_steps
            else RangeCadence(self.at_steps, num_steps=self.num_steps, every_steps=self.every_steps)
        )
        self._recording: Recorder | None = None
        self._first: int | None = None
        self._capture: Capture | None = None
        self._marker: Any = None
        self._is_over = False
        self._metadata: tuple[int, Any] | None = None

    def start(self, session: Session, step: int) -> None:
        self.close()  # Ends the profile of a lost session.
        super().start(session, step)
        self._session = session
        begin = self.cadence.last_begin(step)
        if begin is not None and not self.own_steps and not self._has_profile_since(begin):
            self.cadence.make_up(step)

    def _has_profile_since(self, begin: int) -> bool:
        ending = f"_{self.task}{XPLANE if self.recorder is None else SUFFIX}"
        return any(
            int(label[1]) >= begin
            for folder in list_folders(self.model_dir)
            if (label := _STEP_LABEL.search(folder.name))
            and any(file.endswith(ending) for file in (*folder.steps, *folder.xplanes))
        )

    def before_step(self, run_context: Any, step: int) -> Any:
        if self._first is None:
            self._begin(step)
        if self._marker is None:  # A step of accumulated gradients has several runs.
            self._marker = step_marker(step)
        if self._recording is not None or step == self._first:
            return tf.train.SessionRunArgs(None, options=run_options(self._session.sess_str))
        # Empty options, because TensorFlow would prepare another call for a run without options.
        return tf.train.SessionRunArgs(None, options=tf.RunOptions())

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._end_marker()
        if self._recording is not None:
            self._recording.add(run_values.run_metadata)
        if self._metadata is None:
            self._metadata = (step, run_values.run_metadata)
        self._is_over = self.cadence.ends_at(step)
        if self._is_over and self._recording is None:
            self.close()

    def _after_hooks(self, step: int, ended: float) -> None:
        """Ends a recorded step, and the range after its last one."""
        if self._recording is not None:
            self._recording.end_step(step, ended)
        if self._is_over:
            self.close()

    def close(self) -> None:
        self._end_marker()
        first, capture = self._first, self._capture
        self._first = self._capture = None
        self._is_over = False
        if first is None:
            return
        # The times of steps leave out the time of writing.
        with pause(), warn_only(f"the profile that began at step {first}", report=self.report):
            if capture is not None:
                self.tell(self._label(first), False)
            self._write(first, capture)
        # The tasks of a job share the folder, so only the chief removes captures.
        if self.keep is not None and self.is_chief:
            with pause(), warn_only("an old profile", "was not removed"):
                retain(self.model_dir, self.keep)
        self._write_metadata()

    def _begin(self, step: int) -> None:
        self._first, self._metadata = step, None
        if self.recorder is not None:
            with warn_only(f"the record of the steps from {step}", report=self.report):
                self.recorder.start(self._after_hooks)
                self._recording = self.recorder
        capture = Capture(self.model_dir, label=self._label(step), task=self.task)
        with warn_only(f"the profile from step {step}", report=self.report):
            capture.start()
            self._capture = capture
            self.tell(self._label(step), True)

    def _write(self, first: int, capture: Capture | None) -> None:
        """Writes the capture, and the recorded steps next to it."""
        recorder, self._recording = self._recording, None
        profile = recorder.stop() if recorder is not None else None
        began = self.began() if self.began else None
        path = ""
        if capture is not None:
            with warn_only(f"the capture from step {first}", report=self.report):
                path = capture.save(began=began).removesuffix(XPLANE)
        if profile is not None:  # Also without a capture.
            label = self._label(first)
            path = path or unused_path(self.model_dir, label=label, task=self.task, began=began)
            tf.io.gfile.makedirs(os.path.dirname(path))
            write_file(path + SUFFIX, to_bytes(profile))
        if path:
            _LOG.info("profile from step %d: %s", first, os.path.dirname(path))

    def _label(self, first: int | None) -> str:
        if self.label is not None:
            return self.label
        # The tasks of a job may enter a range at different steps.
        return (
            f"step_{first if self.began is None or not first else self.cadence.range_begin(first)}"
        )

    def _end_marker(self) -> None:
        if self._marker is not None:
            self._marker.__exit__(None, None, None)
            self._marker = None

    def _write_metadata(self) -> None:
        """Writes the run metadata of the first step."""
        if self._metadata is None:
            return
        (step, run_metadata), self._metadata = self._metadata, None
        folder = self.model_dir if self.is_chief else os.path.join(self.model_dir, self.task)
        with warn_only(f"the Chrome trace of step {step}", report=self.report):
            path = os.path.join(folder, f"timeline-{step}.json")
            write_trace(path, chrome_trace(run_metadata))
        files = f"the run metadata of step {step}"
        with warn_only(files, report=self.report), self._session.graph.as_default():
            # The first call for a folder writes the default graph.
            writer = cached_writer(folder)
            add_run_metadata(writer, run_metadata, f"profile_{step}", step)
            writer.flush()
