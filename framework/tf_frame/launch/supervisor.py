"""Runs the tasks of a job on this machine until all have ended."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from tf_frame.errors import EXIT_FAILED, EXIT_OK
from tf_frame.launch import watchdog
from tf_frame.launch.job import CHIEF, EVALUATOR, PS, WORKER
from tf_frame.launch.job_report import Failure, JobReport, Limits
from tf_frame.launch.job_screen import JobScreen
from tf_frame.launch.noted_signals import note_signals
from tf_frame.launch.process import TaskCommand
from tf_frame.launch.task_run import Outcome, TaskRun, judge_exit_code


class Guard:
    """The watchdog of this launcher, which ends the tasks if the launcher is killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def started(self, group: int) -> None:
        """Tells the watchdog that a process group was started."""
        self._tell(f"+{group}\n")

    def ended(self, group: int) -> None:
        """Tells the watchdog that a process group has ended."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """Ends the watchdog; no process group must be left."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin
        with contextlib.suppress(OSError):  # Without a watchdog the job goes on.
            self._process.stdin.write(line)
            self._process.stdin.flush()


class Supervisor:
    """Starts, watches, restarts and ends the tasks of a job.

    Args:
      commands: the commands of the tasks.
      model_dir: the folder with the status files.
      screen, limits: the screen, and the limits of restarts and times.
      can_lose: whether all tasks end when one of them dies too often, instead of a failure.
      regroup_due: called again and again; true ends all tasks, which save.

    Attributes:
      runs: the tasks.
      lost: the task that died too often, with `can_lose`; None: none did.
      regroups: whether `regroup_due` ended the tasks.
      failure: the reason why the job failed; None without a failure.
      received: the signal that stopped the job, None without one.
    """

    def __init__(
        self,
        commands: Sequence[TaskCommand],
        model_dir: str,
        screen: JobScreen,
        limits: Limits,
        *,
        can_lose: bool = False,
        regroup_due: Callable[[], bool] = lambda: False,
    ) -> None:
        self._screen, self._limits = screen, limits
        self._can_lose, self._regroup_due = can_lose, regroup_due
        self._guard = Guard()
        self.runs = [
            TaskRun(command, self._guard.started, self._guard.ended) for command in commands
        ]
        tasks = [run.task for run in self.runs]
        self._report = JobReport(tasks, model_dir, screen, limits)
        self._signals: list[int] = []
        self._stops = False
        self._stopped_at = 0.0
        self._kill_at: float | None = None
        self._end_at: float | None = None
        self.failure: Failure | None = None
        self.lost: TaskRun | None = None
        self.regroups = False
        self.received: int | None = None

    def run(self) -> int:
        """Runs the job to its end; returns the exit code of the launcher."""
        try:
            with note_signals() as self._signals:
                for run in self.runs:
                    run.start()
                while not self._all_have_ended():
                    time.sleep(self._limits.poll_secs)
                    self._step()
            self._report.progress(last=True)
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
        if not self._stops and self._end_at is None and self._regroup_due():
            self.regroups = True
            self._screen.say("all workers are tried again: the tasks save and stop")
            self._stop(self._limits.save_secs)
        self._report.progress()

    def _look_after(self, run: TaskRun) -> None:
        run.start_if_due()
        self._end_if_stopped(run)
        self._report.lines(run.task, run.new_lines())
        code = run.poll()
        if code is not None:
            self._report.lines(run.task, run.finish())
            if not self._stops:
                self._judge(run, code)

    def _end_if_stopped(self, run: TaskRun) -> None:
        """Kills a task that is stopped for long: the others would wait for it without an end."""
        if run.stopped_secs() > self._limits.stopped_secs:
            secs = f"{self._limits.stopped_secs:g} s"
            self._screen.say(
                f"{run.task} is stopped (SIGSTOP) for {secs} (--cluster_timeout_secs); killing it"
            )
            run.kill()

    def _judge(self, run: TaskRun, code: int) -> None:
        """Reacts to the end of a task."""
        outcome = judge_exit_code(code)
        if self._end_at is not None and run.task.type != EVALUATOR:
            # The job has ended: there is nothing to come back to.
            after_end = {Outcome.REJOIN: Outcome.DONE, Outcome.RESTART: Outcome.FAILED}
            outcome = after_end.get(outcome, outcome)
        if outcome is Outcome.DONE:
            if run.task.type == CHIEF:
                self._expect_the_end()
        elif outcome is Outcome.FAILED:
            self._fail(f"{run.task} {run.end_text()}", run)
        elif outcome is Outcome.RESTART and run.deaths >= self._limits.max_restarts:
            often = f"after {run.deaths} of at most {self._limits.max_restarts} restarts"
            self._give_up(f"{run.task} {run.end_text()}, {often}", run)
        elif run.keeps_losing_peers():
            self._fail(f"{run.task} lost the other tasks again and again", run)
        else:
            self._restart(run, counts=outcome is Outcome.RESTART)

    def _give_up(self, text: str, run: TaskRun) -> None:
        if not self._can_lose or run.task.type not in (CHIEF, WORKER):
            self._fail(text, run)
            return
        self.lost, self._stops = run, True
        self._screen.say(f"{text}; the job goes on without a worker")
        # The others cannot make a step any more, and have nothing to save.
        for each in self.runs:
            each.cancel()
            each.dismiss()

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
        """Asks all tasks to stop; the limits kill the remaining tasks after some seconds."""
        self._stops = True
        self._stopped_at = time.monotonic()
        self._kill_at = self._stopped_at + secs
        for run in self.runs:
            run.cancel()
            run.terminate()

    def _obey_signals(self) -> None:
        """Passes the first signal on to the tasks; at a second one kills them."""
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
        self._dismiss_servers()
        if self._end_at is None or self._stops:
            return
        late = [run for run in self.runs if run.exit_code is None and now > self._deadline(run)]
        if late:
            names = ", ".join(str(run.task) for run in late)
            secs = f"{self._limits.end_secs:g} s"
            self._fail(f"{names} did not end within {secs} after the chief", None)

    def _dismiss_servers(self) -> None:
        """Ends parameter servers, which would wait for ever for a chief that has ended."""
        alive = [run for run in self.runs if run.exit_code is None]
        if not self._stops or any(run.task.type != PS for run in alive):
            return
        alone_at = max([self._stopped_at, *(run.end_time for run in self.runs if run not in alive)])
        limits = self._limits
        if time.monotonic() > alone_at + (limits.ps_secs if self.failure else limits.ps_leave_secs):
            for run in alive:
                run.dismiss()

    def _deadline(self, run: TaskRun) -> float:
        """Returns the time of the latest end; the evaluator may evaluate the last checkpoint."""
        assert self._end_at is not None
        if run.task.type != EVALUATOR:
            return self._end_at
        return max(self._end_at, self._report.evaluated_at + self._limits.end_secs)

    def _kill(self, why: str) -> None:
        self._kill_at = None
        names = ", ".join(str(run.task) for run in self.runs if run.exit_code is None)
        if names:
            self._screen.say(f"{why} {names}" if why == "killing" else f"{names} {why}")
        for run in self.runs:
            run.kill()

    @property
    def is_complete(self) -> bool:
        """True if the chief has ended well by itself."""
        return self._end_at is not None

    def _all_have_ended(self) -> bool:
        return all(run.exit_code is not None for run in self.runs)

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
