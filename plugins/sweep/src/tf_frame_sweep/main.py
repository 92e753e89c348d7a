"""Runs a sweep: plan, study, search, results."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

import optuna

from tf_frame.command_line.screen import output_may_fail, report
from tf_frame.errors import EXIT_OK
from tf_frame.progress_bar import ProgressBar
from tf_frame.runs.setup.folder_claim import make_writable
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.text import figure
from tf_frame_sweep.candidate import Candidate
from tf_frame_sweep.plan import Plan, make_plan
from tf_frame_sweep.results import summary, trials_table
from tf_frame_sweep.search import Search
from tf_frame_sweep.study import open_study


def main(params: Any, words: Sequence[str]) -> int:
    """Runs the sweep of a command line; returns the exit code.

    Raises:
      ConfigError: a wrong option, or the folder has another sweep.
      Interrupted: a signal stopped it; the same command goes on.
    """
    plan = make_plan(params, words)
    make_writable(plan.folder, "--sweep_dir")
    study = open_study(plan)
    began, before = time.monotonic(), _ended(study)
    report(f"sweep in {plan.folder}: {before} of {params.trials} trials have ended")
    with output_may_fail(), Interrupts().installed() as interrupts:
        with _progress(study, plan) as progress:
            search = Search(
                study,
                plan,
                say=progress.say,
                stop_wanted=lambda: interrupts.received is not None,
                looked=progress.update,
            )
            search.run()
        if interrupts.received is not None:
            ended = f"{_ended(study)} of {params.trials} trials have ended"
            raise Interrupted(interrupts.received, f"{ended}; the same command goes on")
    report(f"\n{trials_table(study, plan)}\n")
    for line in summary(study, plan):
        report(line)
    report(f"{search.ended} trials in {time.monotonic() - began:.0f} s; results in {plan.folder}")
    return EXIT_OK


def _ended(study: optuna.Study) -> int:
    return sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False))


class _Progress:
    """Lines about trials, above a bar on a terminal."""

    def __init__(self, bar: ProgressBar, study: optuna.Study, plan: Plan) -> None:
        self._bar, self._study, self._plan = bar, study, plan
        self._states: tuple[Any, ...] = ()

    def say(self, line: str) -> None:
        """Prints a line."""
        self._bar.clear()
        report(line)
        self._bar.refresh()

    def update(self, running: list[Candidate]) -> None:
        """Shows what the running trials have reached."""
        states = tuple((c.number, c.step) for c in running)
        if states == self._states:
            return
        self._states = states
        self._bar.n = _ended(self._study)
        parts = [f"trial {number} step {step}" for number, step in states]
        with contextlib.suppress(ValueError):  # No trial is complete.
            parts.append(f"best {figure(self._study.best_value)}")
        self._bar.set_postfix_str(", ".join(parts))


@contextlib.contextmanager
def _progress(study: optuna.Study, plan: Plan) -> Any:
    with ProgressBar(total=plan.params.trials, unit="trial", desc="sweep") as bar:
        yield _Progress(bar, study, plan)
