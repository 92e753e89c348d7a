"""`StatusHook`: writes the status file of a task, for `tf-frame status` and the launcher."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.status import ENDED, STARTING, TRAINING, own_status, write_status
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.types import Session


@dataclasses.dataclass(eq=False)
class StatusHook(Hook):
    """Writes `tasks/NAME.json` at intervals, with the rates of the interval.

    Args:
      model_dir: the folder of the run.
      task: name of the task.
      max_steps: the last step.
      num_workers, num_ps: tasks of the job that train, and parameter servers.
      own_steps: scalar that counts the steps of this worker alone; None: there is only one worker.
      every_secs: seconds after a write until the next step writes.
    """

    phase = Phase.LOG
    model_dir: str
    _: dataclasses.KW_ONLY
    task: str
    max_steps: int
    num_workers: int = 1
    num_ps: int = 0
    own_steps: Any = None
    every_secs: float

    def __post_init__(self) -> None:
        super().__init__(Cadence(every_secs=self.every_secs))

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        # The first interval begins after the first step, which is slow.
        self._before: tuple[float, int, int] | None = None
        self._step = step
        self._write(STARTING)

    def before_step(self, run_context: Any, step: int) -> Any:
        return None if self.own_steps is None else tf.train.SessionRunArgs(self.own_steps)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        own_steps = step if self.own_steps is None else int(run_values.results)
        now, self._step = time.monotonic(), step
        before, self._before = self._before, (now, step, own_steps)
        if before is None or own_steps <= before[2]:
            self._write(TRAINING)
            return
        secs, steps, runs = now - before[0], step - before[1], own_steps - before[2]
        self._write(
            TRAINING,
            steps_per_sec=steps / secs,
            runs_per_sec=runs / secs,
            staleness=max(0.0, steps / runs - 1),
        )

    def after_last_step(self, step: int) -> None:
        self._step = step

    def end(self, session: Session) -> None:
        super().end(session)
        self._write(ENDED)

    def _write(self, state: str, **rates: float) -> None:
        status = own_status(
            self.task,
            state,
            step=self._step,
            max_steps=self.max_steps,
            num_workers=self.num_workers,
            num_ps=self.num_ps,
            **rates,
        )
        write_status(self.model_dir, status)
