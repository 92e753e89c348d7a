"""`Search`: starts the trials of a sweep, looks after them, and tells the study how they ended."""

from __future__ import annotations

import time
from collections.abc import Callable

import optuna
from optuna.trial import Trial, TrialState

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch.supervisor import Guard
from tf_frame.text import figure
from tf_frame_sweep.candidate import Candidate, Outcome, State
from tf_frame_sweep.owner import OWNER, is_orphan, own_process
from tf_frame_sweep.plan import Plan
from tf_frame_sweep.space import as_text, suggest
from tf_frame_sweep.study import make_sampler, sweep_lock

REASON = "reason"
_LOOK_SECS = 0.1
# Seconds to save after a request to stop; a second request ends the runs at once.
_SAVE_SECS = 120.0
_PRUNED = (State.PRUNED, State.REFUSED, State.DIVERGED)


class Search:
    """The trials of this process.

    Args:
      study: the study.
      plan: the sweep.
      say: takes a line for the user.
      stop_wanted: asked often; true saves and stops all runs.
      looked: called after each look at the running trials, with them.

    Attributes:
      ended: trials that ended in this process.
    """

    def __init__(
        self,
        study: optuna.Study,
        plan: Plan,
        *,
        say: Callable[[str], None],
        stop_wanted: Callable[[], bool],
        looked: Callable[[list[Candidate]], None] = lambda running: None,
    ) -> None:
        self._study, self._plan, self._say = study, plan, say
        self._stop_wanted, self._looked = stop_wanted, looked
        self._places: list[Candidate | None] = [None] * plan.params.parallel
        self._failures = self._refusals = 0
        self._has_trained = self._has_enough = False
        self.ended = 0
        self._guard = Guard()

    @property
    def running(self) -> list[Candidate]:
        """The trials that run."""
        return [candidate for candidate in self._places if candidate is not None]

    def run(self) -> None:
        """Runs trials until there are enough.

        Raises:
          TfFrameError: too many trials failed.
          ConfigError: the first trials were all refused.
        """
        try:
            while not self._stop_wanted():
                self._fill_places()
                if not self.running:
                    return
                if not self._look():
                    time.sleep(_LOOK_SECS)
            self._stop()
        finally:
            self._kill()
            self._guard.close()

    def _fill_places(self) -> None:
        for place, candidate in enumerate(self._places):
            if candidate is None and (trial := self._next_trial()):
                values = suggest(trial, self._plan.space)
                self._places[place] = Candidate(
                    trial,
                    values,
                    self._plan,
                    place,
                    group_started=self._guard.started,
                    group_ended=self._guard.ended,
                )
                chosen = ", ".join(f"{name} {as_text(value)}" for name, value in values.items())
                self._say(f"trial {trial.number}: {chosen}")

    def _next_trial(self) -> Trial | None:
        """Returns a trial of a process that was killed, or a new one; None: there are enough."""
        if self._has_enough:
            return None
        with sweep_lock(self._plan.folder):
            trial = self._orphan() or self._new_trial()
            if trial is not None:
                trial.set_user_attr(OWNER, own_process())
        self._has_enough = trial is None
        return trial

    def _orphan(self) -> Trial | None:
        own = {candidate.number for candidate in self.running}
        for frozen in self._study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            owner = frozen.user_attrs.get(OWNER)
            # In a storage of several machines, which share no lock, another one has just begun it.
            is_free = not self._plan.params.storage if owner is None else is_orphan(owner)
            if frozen.number not in own and is_free:
                self._say(f"trial {frozen.number} goes on")
                self._study.sampler = make_sampler(self._plan, frozen.number)
                return Trial(self._study, frozen._trial_id)
        return None

    def _new_trial(self) -> Trial | None:
        trials = self._study.get_trials(deepcopy=False)
        begun = sum(trial.state != TrialState.WAITING for trial in trials)
        is_grid = self._plan.params.sampler == "grid"
        if begun >= self._plan.params.trials or (is_grid and begun == len(trials)):
            return None
        self._study.sampler = make_sampler(self._plan, begun)
        return self._study.ask()

    def _look(self) -> bool:
        """Returns whether a trial ended."""
        running = len(self.running)
        self._look_at_all()
        self._looked(self.running)
        return len(self.running) < running

    def _look_at_all(self) -> None:
        for place, candidate in enumerate(self._places):
            if candidate is not None and (outcome := candidate.look()):
                self._places[place] = None
                self._tell(candidate, outcome)

    def _tell(self, candidate: Candidate, outcome: Outcome) -> None:
        trial, number = candidate.trial, candidate.number
        self.ended, self._has_enough = self.ended + 1, False
        if outcome.state is State.COMPLETE:
            assert outcome.value is not None
            self._study.tell(trial, outcome.value)
            best = " (the best so far)" if self._study.best_trial.number == number else ""
            self._say(f"trial {number}: {self._plan.metric} {figure(outcome.value)}{best}")
        else:
            trial.set_user_attr(REASON, f"{outcome.state.value}: {outcome.reason}")
            is_pruned = outcome.state in _PRUNED
            self._study.tell(trial, state=TrialState.PRUNED if is_pruned else TrialState.FAIL)
            self._say(f"trial {number} {outcome.state.value}: {outcome.reason}")
        self._keep_limits(candidate, outcome)

    def _keep_limits(self, candidate: Candidate, outcome: Outcome) -> None:
        most = self._plan.params.max_failures
        self._failures += outcome.state is State.FAILED
        self._refusals += outcome.state is State.REFUSED
        self._has_trained = self._has_trained or outcome.state is not State.REFUSED
        if self._failures >= most:
            raise TfFrameError(
                f"{self._failures} trials failed (--max_failures {most}), the last one: "
                f"{outcome.reason}; its log is {candidate.log}"
            )
        if self._refusals >= most and not self._has_trained:
            raise ConfigError(f"all {most} trials were refused, the last one: {outcome.reason}")

    def _stop(self) -> None:
        """Lets all runs save; their trials go on with the next call of the command."""
        for candidate in self.running:
            candidate.stop()
        until = time.monotonic() + _SAVE_SECS
        while time.monotonic() < until and not all(c.has_stopped for c in self.running):
            self._look_at_all()
            time.sleep(_LOOK_SECS)

    def _kill(self) -> None:
        """Leaves no process, also after an error."""
        for candidate in self.running:
            candidate.kill()
            while not candidate.has_stopped:
                candidate.look()
                time.sleep(_LOOK_SECS / 10)
