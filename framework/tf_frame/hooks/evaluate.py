"""`EvaluateHook`: evaluates every N steps or seconds of training (`--eval_every_n_steps`).

Early stopping, `--keep_best` and TensorBoard's curves of metrics use these results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence, Either, Multiples
from tf_frame.hooks.training_clock import pause


class EvaluationTimes(Cadence):
    """Steps to evaluate at by time; a step that is not saved does not count.

    Args:
      every_secs: seconds between the end of an evaluation and the next one.
      is_saved: whether a step has been saved.
    """

    def __init__(self, every_secs: float | None, is_saved: Callable[[int], bool]) -> None:
        self._is_saved = is_saved
        super().__init__(every_secs=every_secs, first=False)

    def mark(self, step: int) -> None:
        if self._is_saved(step):
            super().mark(step)


@dataclasses.dataclass(eq=False)
class EvaluateHook(Hook):
    """Evaluates at the multiples of a number of steps, and by time.

    The hook runs after the step has been saved, and before hooks that stop because of the
    results. Rates of steps leave out the time of an evaluation.

    Args:
      evaluate: takes the global step; returns metric -> value.
      every_steps: steps between evaluations; None: only by time.
      every_secs: seconds of training between evaluations; None: only by steps.
      last_step: last step of a run that evaluates at its end, which the hook skips; None: no
        step is skipped.
      unless: called before every evaluation; true skips the evaluation.
      is_saved: whether a step has been saved. An evaluation by time waits for a saved step.

    Attributes:
      times: the steps to evaluate at by time, for the hook that saves.
      results: global step -> metric -> value, in the order of the evaluations.
    """

    phase = Phase.EVALUATE
    option = "--eval_every_n_steps"

    evaluate: Callable[[int], Mapping[str, float]]
    _: dataclasses.KW_ONLY
    every_steps: int | None
    every_secs: float | None = None
    last_step: int | None
    unless: Callable[[], bool] = lambda: False
    is_saved: Callable[[int], bool] = lambda step: True

    def __post_init__(self) -> None:
        self.times = EvaluationTimes(self.every_secs, self.is_saved)
        super().__init__(Either(Multiples(self.every_steps), self.times))
        self.results: dict[int, dict[str, float]] = {}

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        is_last = self.last_step is not None and step >= self.last_step
        if not is_last and not self.unless() and self.is_saved(step):
            with pause():
                self.results[step] = dict(self.evaluate(step))
