"""Profiles ranges of steps: a capture for the Profile tab, run metadata, a Chrome trace."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.profiling.capture import Capture, only_warns, step_marker
from tf_frame.profiling.run_metadata import (
    add_run_metadata,
    chrome_trace,
    run_options,
    write_trace,
)
from tf_frame.profiling.step_ranges import StepRanges

_LOG = logging.getLogger("tf_frame")


class RangeCadence(Cadence):
    """Every step of some ranges, once; steps that are passed over are not made up for.

    Where a whole range is passed over, the next step stands for it. A step
    that has been done is not wanted again when a lost session begins before it.

    Args:
      ranges: the ranges.
    """

    def __init__(self, ranges: StepRanges) -> None:
        self._ranges = ranges
        self._reached = 0
        super().__init__()

    def start(self, step: int) -> None:
        self._reached = max(self._reached, step)

    def mark(self, step: int) -> None:
        self._reached = step

    def next_step(self) -> float:
        return self._ranges.next_after(self._reached)

    def ends_at(self, step: int) -> bool:
        """Whether the step after `step` is in no range."""
        return self._ranges.next_after(step) > step + 1

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def __str__(self) -> str:
        return str(self._ranges)


class ProfileHook(Hook):
    """Profiles the steps `[s, s + num_steps)` for each `s`.

    Step `s` is the run that brings the global step to `s`, so the first step
    of a new training is 1. No other step is touched. A session that begins
    within a range profiles the rest of it, and one that begins after it
    nothing. A profile that the end of training, or a lost session, cuts short
    is written as far as it came. Where a step fails nobody tells a hook: put
    `contextlib.closing` around the session.

    A range leaves behind

    * `plugins/profile/<time>_step_<s>/<host>_<job>_<task>.xplane.pb` for the
      Profile tab, with a mark for each step;
    * run metadata of its first `metadata_steps` steps, as `profile_<step>` on
      the graphs page, and `timeline-<step>.json` for ui.perfetto.dev.

    Run metadata makes a step slower (docs/profiling.md has numbers), which
    would show in the capture; so by default only the first step has it, which
    is slower anyway: TensorFlow prepares what is run for the first time.

    A profiler that is busy or fails, and a folder that cannot be written, are
    logged; training goes on.

    Args:
      model_dir: TensorBoard's folder. The chief's event file and timelines go
        there, those of other tasks to a folder `<job>_<task>` in it.
      at_steps: global steps at which a range begins.
      num_steps: steps in each range.
      every_steps: further ranges begin at the multiples of it; None for none.
      metadata_steps: steps of each range that are asked for run metadata.
      job: name of this task's job.
      task: its number in the job.
      is_chief: whether it is the chief.

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
    ) -> None:
        ranges = StepRanges(at_steps, num_steps=num_steps, every_steps=every_steps)
        super().__init__(RangeCadence(ranges))
        self._model_dir = model_dir
        self._task = f"{job}_{task}"
        self._folder = model_dir if is_chief else os.path.join(model_dir, self._task)
        self._metadata_steps = metadata_steps
        self._first: int | None = None
        self._capture: Capture | None = None
        self._marker: Any = None
        self._metadata_left = 0

    def start(self, session: Any, step: int) -> None:
        self.close()  # What a lost session left.
        super().start(session, step)
        self._session = session

    def before_step(self, run_context: Any, step: int) -> Any:
        if self._first is None:
            self._begin(step)
        if self._marker is None:  # Else this is another run of the same step.
            self._marker = step_marker(step)
        if self._metadata_left:
            return tf.train.SessionRunArgs(None, options=run_options(self._session.sess_str))
        # Options that ask for nothing: a run without any would be prepared anew.
        return tf.train.SessionRunArgs(None, options=tf.RunOptions())

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._end_marker()
        if self._metadata_left:
            self._metadata_left -= 1
            self._write_metadata(run_values.run_metadata, step)
        if self.cadence.ends_at(step):
            self.close()

    def end(self, session: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends and writes a profile that is being made; safe to call at any time."""
        self._end_marker()
        first, capture = self._first, self._capture
        self._first = self._capture = None
        if capture is None:
            return
        with only_warns(f"the profile that began at step {first}"):
            path = capture.save(self._model_dir, label=f"step_{first}", task=self._task)
            _LOG.info("profile from step %d: %s", first, path)

    def _begin(self, step: int) -> None:
        self._first, self._metadata_left = step, self._metadata_steps
        capture = Capture()
        with only_warns(f"the profile from step {step}"):
            capture.start()
            self._capture = capture

    def _end_marker(self) -> None:
        if self._marker is not None:
            self._marker.__exit__(None, None, None)
            self._marker = None

    def _write_metadata(self, run_metadata: Any, step: int) -> None:
        with only_warns(f"the Chrome trace of step {step}"):
            path = os.path.join(self._folder, f"timeline-{step}.json")
            write_trace(path, chrome_trace(run_metadata))
        with only_warns(f"the run metadata of step {step}"), self._session.graph.as_default():
            # Whoever asks for the writer first also has it write the default graph.
            writer = tf.summary.FileWriterCache.get(self._folder)
            add_run_metadata(writer, run_metadata, f"profile_{step}", step)
            writer.flush()
