"""`Candidate`: a trial that runs, one process after the other for each of its seeds."""

from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Callable
from typing import Any

from tf_frame.cluster.status import read_status
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.launch import process as launch_process
from tf_frame.launch.job import Task
from tf_frame.launch.process import TaskCommand, TaskProcess
from tf_frame.launch.watchdog import is_there
from tf_frame.runs.records.evaluations import Evaluation, read_evaluations
from tf_frame.runs.records.record import read_record
from tf_frame.runs.setup.folder_claim import find_writer
from tf_frame.text import brief, listed, short
from tf_frame_sweep.plan import Plan
from tf_frame_sweep.shares import gpu_variables

# The words before those of a run.
PROGRAM = (*launch_process.PROGRAM, "run")
_OVER = ("done", "ended early", "stopped by --max_secs")
_DIVERGED = "diverged"
# A process that died, such as for lack of memory, goes on from its checkpoint.
_MOST_RESTARTS = 3
_PREFIX = "tf-frame: "
# The end of the line that `TaskProcess` writes between two starts.
_STARTED_AGAIN = ": started again =="
# Exit codes from here on are those of signals and of jobs that want to be started again.
_SIGNALLED = 127


class State(enum.Enum):
    """The end of a trial."""

    COMPLETE = "complete"
    PRUNED = "pruned"
    REFUSED = "refused"
    DIVERGED = "diverged"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The end of a trial: its state, and the value if it is complete, else the reason."""

    state: State
    value: float | None = None
    reason: str = ""


class Candidate:
    """The runs of one trial.

    Args:
      trial: the trial of Optuna.
      values: option -> value.
      plan: the sweep.
      place: number of the trial among those that run at the same time.
      group_started, group_ended: called with the process group of each run.

    Attributes:
      number: that of the trial.
      step, last: the last evaluated step of the present run, and its value.
    """

    def __init__(
        self,
        trial: Any,
        values: dict[str, Any],
        plan: Plan,
        place: int,
        *,
        group_started: Callable[[int], None],
        group_ended: Callable[[int], None],
    ) -> None:
        self.trial, self.values, self._place = trial, values, place
        self.number = int(trial.number)
        self.step, self.last = 0, math.nan
        self._plan = plan
        self._started, self._ended = group_started, group_ended
        self._folders = plan.folders(self.number)
        self._results: list[float] = []
        self._process: TaskProcess | None = None
        self._restarts = 0
        self._is_pruned = self._is_stopped = False
        self._size = -1
        self._reported = {step for step, _ in self._intermediate()}

    @property
    def folder(self) -> str:
        """The folder of the present run."""
        return self._folders[min(len(self._results), len(self._folders) - 1)]

    @property
    def log(self) -> str:
        """The file with the output of the present run."""
        return f"{self.folder}.log"

    def look(self) -> Outcome | None:
        """Goes on: starts the next run, reports evaluations; returns the end of the trial."""
        if self._process is None:
            return self._begin()
        self._report_evaluations()
        code = self._process.exit_code()
        if code is None:
            return None
        self._ended(self._process.pid)
        self._process.tail.close()
        self._process = None
        self._report_evaluations(may_prune=False)
        return self._judge(code)

    def stop(self) -> None:
        """Asks the run to save and to stop; the trial goes on with the same command."""
        self._is_stopped = True
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Ends the run at once, and begins no other one."""
        self._is_stopped = True
        if self._process is not None:
            self._process.kill()

    @property
    def has_stopped(self) -> bool:
        """True if no process of the trial runs."""
        return self._process is None

    def _refused(self) -> Outcome | None:
        """Returns the end of a trial whose options do not fit together."""
        try:
            parse_command_line(self._plan.run_words(self.values)).setup()
        except ConfigError as error:
            return Outcome(State.REFUSED, reason=str(error).splitlines()[0])
        return None

    def _begin(self) -> Outcome | None:
        if self._is_stopped or find_writer(self.folder) is not None:
            return None  # That of an earlier sweep, which was killed, is still saving.
        self._size = -1
        if os.path.isdir(self.folder) and read_record(self.folder, is_there).state in _OVER:
            self._report_evaluations(may_prune=False)
            return self._complete_run()
        if refused := self._refused():
            return refused
        self._process = TaskProcess(self._command(), self._started)
        return None

    def _command(self) -> TaskCommand:
        seed = self._plan.seeds()[len(self._results)]
        words = self._plan.run_words(self.values, seed)
        gpus = gpu_variables(self._place, self._plan.params.parallel)
        return TaskCommand(
            task=Task("trial", self.number),
            words=[*PROGRAM, *words, f"--model_dir={self.folder}"],
            environment={"PYTHONUNBUFFERED": "1", **os.environ, **gpus},
            log=self.log,
        )

    def _judge(self, code: int) -> Outcome | None:
        if code == EXIT_OK:
            return self._complete_run()
        if self._is_pruned:
            return Outcome(State.PRUNED, reason=f"at step {self.step}")
        if self._is_stopped:
            return None
        if code < 0 or code > _SIGNALLED:
            return self._restart(code)
        status = read_status(self.folder)
        if status is not None and status.diverged:
            return Outcome(State.DIVERGED, reason=status.reason or "")
        state = State.REFUSED if code == EXIT_USAGE else State.FAILED
        return Outcome(state, reason=self._last_message())

    def _restart(self, code: int) -> Outcome | None:
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS:
            reason = f"its process died {self._restarts} times, last with exit code {code}"
            return Outcome(State.FAILED, reason=reason)
        return self._begin()

    def _complete_run(self) -> Outcome | None:
        evaluations = self._evaluations()
        if not evaluations:
            return Outcome(State.FAILED, reason=self._why_no_value())
        value = evaluations[-1].metrics[self._plan.metric]
        if not math.isfinite(value):
            return Outcome(State.DIVERGED, reason=f"{self._plan.metric} is {value}")
        self._results.append(value)
        self._restarts = 0
        if len(self._results) < len(self._folders):
            return self._begin()
        return Outcome(State.COMPLETE, math.fsum(self._results) / len(self._results))

    def _report_evaluations(self, *, may_prune: bool = True) -> None:
        """Reports new evaluations of the first seed, and ends the run if the pruner says so."""
        path = os.path.join(self.folder, "metrics.csv")
        size = os.path.getsize(path) if os.path.exists(path) else 0
        if size == self._size or self._is_pruned:
            return
        self._size = size
        for evaluation in self._evaluations():
            self.step, self.last = evaluation.step, evaluation.metrics[self._plan.metric]
            if not self._results and self.step not in self._reported:
                self._reported.add(self.step)
                if math.isfinite(self.last):
                    self.trial.report(self.last, self.step)
        is_last = self.step >= self._plan.setup.config.max_steps
        may_prune = may_prune and bool(self._reported) and not (self._results or is_last)
        if may_prune and self.trial.should_prune():
            self._is_pruned = True
            if self._process is not None:
                self._process.terminate()

    def _evaluations(self) -> list[Evaluation]:
        metric = self._plan.metric
        return [each for each in read_evaluations(self.folder) if metric in each.metrics]

    def _why_no_value(self) -> str:
        """Returns the reason; a metric that no trial will have ends the sweep.

        Raises:
          ConfigError: the run has evaluated other metrics.
        """
        others = [name for each in read_evaluations(self.folder) for name in each.metrics]
        if not others:
            return "it has evaluated nothing"
        raise ConfigError(
            f"--metric {brief(self._plan.metric)}: trial {self.number} has evaluated "
            f"{listed(dict.fromkeys(others))}"
        )

    def _intermediate(self) -> list[tuple[int, float]]:
        frozen = next(
            t for t in self.trial.study.get_trials(deepcopy=False) if t.number == self.number
        )
        return list(frozen.intermediate_values.items())

    def _last_message(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        # Only of the last start.
        starts = [number for number, line in enumerate(lines) if line.endswith(_STARTED_AGAIN)]
        lines = lines[starts[-1] + 1 :] if starts else lines
        messages = [line for line in lines if line.startswith(_PREFIX)] or lines or ["it ended"]
        return short(messages[-1].removeprefix(_PREFIX))
