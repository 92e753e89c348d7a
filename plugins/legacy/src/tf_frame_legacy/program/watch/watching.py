"""Installs the additions that the options ask for. Imports TensorFlow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.hooks.profile import ProfileHook
from tf_frame.profiling.recorder import Facts, Recorder
from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.interrupts import Interrupts
from tf_frame_legacy.program.watch.figures import WatchedSummaries
from tf_frame_legacy.program.watch.options import Watch, WatchOptions, activated
from tf_frame_legacy.program.watch.runs import WatchedRuns
from tf_frame_legacy.program.watch.saves import StopAndSaveHook, WatchedSaves


@contextlib.contextmanager
def watching(options: WatchOptions) -> Iterator[None]:
    """Adds to all programs that run within the block what the options ask for."""
    interrupts, times = Interrupts(), StepTimes()
    saves = WatchedSaves(check_finite=options.check_finite)

    def make_hooks() -> Sequence[Any]:
        hooks: list[Any] = []
        if options.profile_at_step:
            recorder = Recorder(times, Facts("worker_0"))
            hooks.append(
                ProfileHook(
                    options.profile_dir, at_steps=options.profile_at_step, recorder=recorder
                )
            )
        if options.save_on_signal:
            hooks.append(StopAndSaveHook(saves, interrupts))
        return hooks

    runs = WatchedRuns(make_hooks, times)
    with contextlib.ExitStack() as stack:
        if options.save_on_signal:
            stack.enter_context(interrupts.installed())
        if options.save_on_signal or options.check_finite:
            stack.enter_context(saves.installed())
        if options.save_on_signal or options.profile_at_step:
            stack.enter_context(runs.installed())
        if options.metrics_csv:
            stack.enter_context(WatchedSummaries().installed())
        stack.enter_context(activated(Watch(options, interrupts, runs.paused)))
        yield
