"""`TurnsHook`: trains in turns, as the program at the other end of a pipe says; see `trial`."""

from __future__ import annotations

import json
import time
from typing import Any, TextIO

import tensorflow.compat.v1 as tf

from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.training_clock import pause
from tf_frame.types import Session

# The loss of a training graph of tf-frame; its value is ready after the update.
LOSS = "train_op:0"


class _EndOfTurn(Cadence):
    """The last step of the present turn."""

    step = 0

    def next_step(self) -> float:
        return self.step

    def __bool__(self) -> bool:
        return True


class TurnsHook(Hook):
    """Waits for a number of steps, lets them pass, and answers with their time and the last loss.

    The end of the questions ends the training.

    Args:
      questions: yields a line for each turn, the number of steps.
      answers: takes a line of JSON for each turn; the first, of no step, says that the session is
        open, and how many examples a step has.
      examples_per_step: this number.
    """

    phase = Phase.STOP
    cadence: _EndOfTurn

    def __init__(self, questions: TextIO, answers: TextIO, *, examples_per_step: int) -> None:
        super().__init__(_EndOfTurn())
        self._questions, self._answers = questions, answers
        self._examples_per_step = examples_per_step

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._loss = session.graph.get_tensor_by_name(LOSS)
        self._answer(examples_per_step=self._examples_per_step)
        self._stops = not self._begin_turn(step)

    def should_stop(self) -> bool:
        return self._stops

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._loss)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        # Files of the turn's steps belong to the turn.
        wait_for_background_writer()
        secs = time.perf_counter() - self._began
        self._answer(step=step, secs=secs, loss=float(run_values.results))
        self._stops = not self._begin_turn(step)

    def _begin_turn(self, step: int) -> bool:
        """Waits for the next turn; returns whether there is one."""
        with pause():
            question = self._questions.readline()
        if question:
            self.cadence.step = step + int(question)
        self._began = time.perf_counter()
        return bool(question)

    def _answer(self, **figures: float) -> None:
        print(json.dumps(figures), file=self._answers, flush=True)
