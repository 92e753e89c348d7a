"""`EvaluateHook`: evaluates every N steps of training (`--eval_every_n_steps`).

Early stopping, `--keep_best` and TensorBoard's curves of metrics use these results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import pause


@dataclasses.dataclass(eq=False)
class EvaluateHook(Hook):
    """Evaluates at the multiples of a number of steps.

    The hook runs after the step has been saved, and before hooks that stop because of the
    results. Rates of steps leave out the time of an evaluation.

    Args:
      evaluate: takes the global step; returns metric -> value.
      every_steps: steps between evaluations.
      last_step: last step of a run that evaluates at its end, which the hook skips; None: no
        step is skipped.
      unless: called before every evaluation; true skips the evaluation.

    Attributes:
      results: global step -> metric -> value, in the order of the evaluations.
    """

    phase = Phase.EVALUATE
    option = "--eval_every_n_steps"

    evaluate: Callable[[int], Mapping[str, float]]
    _: dataclasses.KW_ONLY
    every_steps: int
    last_step: int | None
    unless: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        super().__init__(Multiples(self.every_steps))
        self.results: dict[int, dict[str, float]] = {}

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        is_last = self.last_step is not None and step >= self.last_step
        if not is_last and not self.unless():
            with pause():
                self.results[step] = dict(self.evaluate(step))
