"""Runs the tasks of a job on this machine until all have ended, whatever happens to them."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import time
from collections.abc import Iterator, Sequence
from types import FrameType

from tf_frame.cluster import status
from tf_frame.cluster.status import read_statuses
from tf_frame.errors import EXIT_FAILED, EXIT_OK
from tf_frame.launch.guard import Guard
from tf_frame.launch.job import CHIEF, EVALUATOR
from tf_frame.launch.job_screen import JobScreen
from tf_frame.launch.outcome import Outcome, outcome_of
from tf_frame.launch.process import TaskCommand
from tf_frame.launch.progress import JobProgress
from tf_frame.launch.task_run import TaskRun

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """How often a task may die, and for how many seconds the launcher waits.

    Attributes:
      max_restarts: deaths of each task after which it is started again.
      stop_secs: after a failure, from SIGTERM to SIGKILL.
      save_secs: after a signal to the launcher, from SIGTERM to SIGKILL: the chief saves.
      end_secs: from the end of the chief to that of the others.
      progress_secs: between two lines of progress where there is no terminal.
      status_secs: between two looks at the status files.
      poll_secs: between two looks at the processes and their logs.
    """

    max_restarts: int = 3
    stop_secs: float = 10.0
    save_secs: float = 60.0
    end_secs: float = 30.0
    progress_secs: float = 30.0
    status_secs: float = 1.0
    poll_secs: float = 0.1


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why a job failed.

    Attributes:
      text: what happened.
      run: the task that failed first; None if it was no single one.
      shown: number of lines that had been shown by then.
    """

    text: str
    run: TaskRun | None
    shown: int


class Supervisor:
    """Starts, watches, restarts and ends the tasks of a job.

    Args:
      commands: what starts each task, in this order.
      model_dir: the folder of the run, with the status files.
      screen: shows what the tasks say.
      limits: see `Limits`.

    Attributes:
      runs: the tasks.
      failure: why the job failed, None if it did not.
      received: the signal that stopped the job, None without one.
    """

    def __init__(
        self, commands: Sequence[TaskCommand], model_dir: str, screen: JobScreen, limits: Limits
    ) -> None:
        self._model_dir, self._screen, self._limits = model_dir, screen, limits
        self._guard = Guard()
        self.runs = [TaskRun(each, self._guard.started, self._guard.ended) for each in commands]
        self._progress = JobProgress([run.task for run in self.runs], since=time.time())
        self._shown_progress = ""
        self._next_progress = self._next_status = 0.0
        self._signals: list[int] = []
        self._stops = False
        self._kill_at: float | None = None
        self._end_at: float | None = None
        self._evaluated_at = 0.0  # When the evaluator was last seen to evaluate.
        self.failure: Failure | None = None
        self.received: int | None = None

    def run(self) -> int:
        """Runs the job to its end; returns the exit code of the launcher."""
        try:
            with self._signals_noted():
                for run in self.runs:
                    run.start()
                while not self._all_have_ended():
                    time.sleep(self._limits.poll_secs)
                    self._step()
            self._show_progress(last=True)
        finally:
            self._clean_up()
        if self.received is not None:
            return 128 + self.received
        return EXIT_FAILED if self.failure else EXIT_OK

    def _step(self) -> None:
        for run in self.runs:
            self._look_after(run)
        self._obey_signals()
        self._keep_limits()
        self._show_progress()

    def _look_after(self, run: TaskRun) -> None:
        run.start_if_due()
        self._show(run, run.new_lines())
        code = run.poll()
        if code is not None:
            self._show(run, run.finish())
            if not self._stops:
                self._judge(run, code)

    def _show(self, run: TaskRun, lines: Sequence[str]) -> None:
        for line in lines:
            if not self._progress.takes(run.task, line):
                self._screen.task_line(run.task, line)

    def _judge(self, run: TaskRun, code: int) -> None:
        """Decides what the end of a task means."""
        outcome = outcome_of(code)
        if self._end_at is not None and run.task.type != EVALUATOR:
            # There is nothing left to come back to.
            after_end = {Outcome.REJOIN: Outcome.DONE, Outcome.RESTART: Outcome.FAILED}
            outcome = after_end.get(outcome, outcome)
        if outcome is Outcome.DONE:
            if run.task.type == CHIEF:
                self._expect_the_end()
        elif outcome is Outcome.FAILED:
            self._fail(f"{run.task} {run.end_text()}", run)
        elif outcome is Outcome.RESTART and run.deaths >= self._limits.max_restarts:
            often = f"after {run.deaths} of at most {self._limits.max_restarts} restarts"
            self._fail(f"{run.task} {run.end_text()}, {often}", run)
        elif run.loses_others_again_and_again():
            self._fail(f"{run.task} lost the other tasks again and again", run)
        else:
            self._restart(run, counts=outcome is Outcome.RESTART)

    def _restart(self, run: TaskRun, *, counts: bool) -> None:
        how = run.end_text()
        delay = run.restart(counts=counts)
        when = f"starting it again in {delay:g} s" if delay else "starting it again"
        number = f" (restart {run.deaths} of {self._limits.max_restarts})" if counts else ""
        self._screen.say(f"{run.task} {how}; {when}{number}")

    def _expect_the_end(self) -> None:
        """Gives the other tasks a time to end in, as the chief has ended well."""
        self._end_at = time.monotonic() + self._limits.end_secs
        for run in self.runs:
            if run.task.type != EVALUATOR:
                run.cancel()

    def _fail(self, text: str, run: TaskRun | None) -> None:
        self.failure = Failure(text, run, self._screen.shown)
        self._stop(self._limits.stop_secs)
        if not self._all_have_ended():
            self._screen.say(f"{text}; stopping the other tasks")

    def _stop(self, secs: float) -> None:
        """Asks all tasks to stop, and has those killed that have not done so after a time."""
        self._stops = True
        self._kill_at = time.monotonic() + secs
        for run in self.runs:
            run.cancel()
            run.terminate()

    def _obey_signals(self) -> None:
        """Passes the first signal on; at a second one nobody wants to wait."""
        while self._signals:
            signum = self._signals.pop(0)
            if not self._stops:
                name = signal.Signals(signum).name
                self._screen.say(
                    f"{name}: the tasks save and stop (at most {self._limits.save_secs:g} s); "
                    "once more to kill them"
                )
                self._stop(self._limits.save_secs)
            else:
                self._kill("killing")
            self.received = self.received or signum

    def _keep_limits(self) -> None:
        now = time.monotonic()
        if self._kill_at is not None and now > self._kill_at:
            self._kill("did not stop in time; killing")
        if self._end_at is None or self._stops:
            return
        late = [run for run in self.runs if run.exit_code is None and now > self._end_of(run)]
        if late:
            names = ", ".join(str(run.task) for run in late)
            secs = f"{self._limits.end_secs:g} s"
            self._fail(f"{names} did not end within {secs} after the chief", None)

    def _end_of(self, run: TaskRun) -> float:
        """When a task must have ended; the evaluator may evaluate the last checkpoint first."""
        assert self._end_at is not None
        if run.task.type != EVALUATOR:
            return self._end_at
        return max(self._end_at, self._evaluated_at + self._limits.end_secs)

    def _kill(self, why: str) -> None:
        self._kill_at = None
        left = self._names_left()
        if left:
            self._screen.say(f"{why} {left}" if why == "killing" else f"{left} {why}")
        for run in self.runs:
            run.kill()

    def _names_left(self) -> str:
        return ", ".join(str(run.task) for run in self.runs if run.exit_code is None)

    def _all_have_ended(self) -> bool:
        return all(run.exit_code is not None for run in self.runs)

    def _show_progress(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if now < self._next_status and not last:
            return
        self._next_status = now + self._limits.status_secs
        statuses = read_statuses(self._model_dir)
        if any(s.state == status.EVALUATING and s.task.startswith(EVALUATOR) for s in statuses):
            self._evaluated_at = now
        due = self._screen.is_terminal or last or now >= self._next_progress
        text = self._progress.text(statuses) if due else ""
        if text and text != self._shown_progress:
            self._shown_progress = text
            self._next_progress = now + self._limits.progress_secs
            self._screen.progress(text)
        if last:
            self._screen.end_progress()

    @contextlib.contextmanager
    def _signals_noted(self) -> Iterator[None]:
        def note(signum: int, frame: FrameType | None) -> None:
            self._signals.append(signum)

        before = {signum: signal.signal(signum, note) for signum in _SIGNALS}
        try:
            yield
        finally:
            for signum, old in before.items():
                signal.signal(signum, old)

    def _clean_up(self) -> None:
        """Leaves no process, after an error in the launcher itself either."""
        for run in self.runs:
            run.cancel()
            run.kill()
        while not self._all_have_ended():
            for run in self.runs:
                if run.poll() is not None:
                    run.finish()
            time.sleep(0.01)
        self._guard.close()
