"""`EvaluateHook`: evaluates every N steps of training (`--eval_every_n_steps`).

Early stopping, `--keep_best` and TensorBoard's curves of metrics use these results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import pause


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

    Raises:
      ValueError: `every_steps` is not positive.
    """

    phase = Phase.EVALUATE
    option = "--eval_every_n_steps"

    def __init__(
        self,
        evaluate: Callable[[int], Mapping[str, float]],
        *,
        every_steps: int,
        last_step: int | None,
        unless: Callable[[], bool] = lambda: False,
    ) -> None:
        self._evaluate = evaluate
        self._last_step = last_step
        self._unless = unless
        self.results: dict[int, dict[str, float]] = {}
        super().__init__(Multiples(every_steps))

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        is_last = self._last_step is not None and step >= self._last_step
        if not is_last and not self._unless():
            with pause():
                self.results[step] = dict(self._evaluate(step))
