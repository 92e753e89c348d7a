"""The hook `early_stopping`: ends training by a metric of the evaluations.

--hook early_stopping:accuracy --hook.early_stopping.steps 2000
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin

# Value of `when` -> the option that holds its limit.
_LIMITS = {
    "higher": "threshold",
    "lower": "threshold",
    "no_increase": "steps",
    "no_decrease": "steps",
}


class EarlyStopping(HookPlugin):
    """Ends training when a metric of the evaluations is good enough, or no longer improves.

    The hook reads the evaluations in MODEL_DIR/eval, so the model must be
    evaluated during training. Every worker reads them.

    Raises:
      ConfigError: the option that `when` needs is missing, or the other one is given.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options, with the meaning of tf.estimator.experimental's stop_if_*_hook."""

        metric: str = option("loss", "name of the evaluation metric")
        when: str = option(
            "no_decrease",
            "stop when the metric is higher or lower than --threshold, or has had no new maximum "
            "or minimum for --steps",
            choices=tuple(_LIMITS),
        )
        threshold: float | None = option(None, "limit for higher and lower")
        steps: int | None = option(None, "global steps without a better value", min=1)
        min_steps: int = option(0, "ignore evaluations before this global step", min=0)
        every_secs: float = option(60.0, "seconds between checks of the evaluations", min=0.001)
        every_steps: int | None = option(
            None, "steps between checks of the evaluations, in place of every_secs", min=1
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self._limit = _LIMITS[params.when]
        other = "steps" if self._limit == "threshold" else "threshold"
        if getattr(params, self._limit) is None or getattr(params, other) is not None:
            raise ConfigError(
                f"early_stopping: when={params.when} goes by {self._limit}; give "
                f"--hook.early_stopping.{self._limit}, and leave out {other}"
            )

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks import early_stopping
        from tf_frame.hooks.cadence import Either, Multiples

        params = self.params
        hook = getattr(early_stopping, f"stop_if_{params.when}")(
            params.metric,
            getattr(params, self._limit),
            os.path.join(context.model_dir, "eval"),
            min_steps=params.min_steps,
            run_every_secs=None if params.every_steps else params.every_secs,
            run_every_steps=params.every_steps,
        )
        hook.report = context.report
        if context.eval_every_n_steps:
            hook.cadence = Either(hook.cadence, Multiples(context.eval_every_n_steps))
        else:
            context.report(
                "note: early_stopping goes by the evaluations in MODEL_DIR/eval; without "
                "--eval_every_n_steps another program has to write them"
            )
        return hook
