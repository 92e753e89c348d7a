"""The hook `early_stopping`: ends training by a metric of the evaluations.

--hook early_stopping:accuracy --hook.early_stopping.steps 2000
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin

_LIMITS = {
    "higher": "threshold",
    "lower": "threshold",
    "no_increase": "steps",
    "no_decrease": "steps",
}


@dataclasses.dataclass(frozen=True)
class Params:
    """Options; their meaning is that of tf.estimator.experimental's stop_if_*_hook."""

    metric: str = option("loss", "the metric of the evaluations")
    when: str = option(
        "no_decrease",
        "stop once the metric is higher or lower than --threshold, or has had no new highest or "
        "lowest value for --steps",
        choices=tuple(_LIMITS),
    )
    threshold: float | None = option(None, "what higher and lower compare with")
    steps: int | None = option(None, "global steps without a better value", min=1)
    min_steps: int = option(0, "evaluations before this global step do not count", min=0)
    every_secs: float = option(
        60.0,
        "seconds from one look at the evaluations to the next",
        min=0,
    )
    every_steps: int | None = option(None, "steps likewise, in place of every_secs", min=1)


class EarlyStopping(HookPlugin):
    """Ends training once a metric of the evaluations has got far enough, or no better.

    It reads what evaluations write to MODEL_DIR/eval, so there must be some
    while training goes on. Every worker looks for itself.

    Raises:
      ConfigError: the option that `when` needs is missing, or the other is given.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        needed = _LIMITS[params.when]
        other = "steps" if needed == "threshold" else "threshold"
        if getattr(params, needed) is None or getattr(params, other) is not None:
            raise ConfigError(
                f"early_stopping: when={params.when} goes by {needed}; give "
                f"--hook.early_stopping.{needed}, and leave out {other}"
            )
        if params.every_secs <= 0:
            raise ConfigError(f"early_stopping: every_secs is {params.every_secs}; raise it")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks import early_stopping
        from tf_frame.hooks.cadence import Either, Multiples

        make = getattr(early_stopping, f"stop_if_{self.params.when}")
        by_steps = self.params.every_steps is not None
        hook = make(
            self.params.metric,
            getattr(self.params, _LIMITS[self.params.when]),
            os.path.join(context.model_dir, "eval"),
            min_steps=self.params.min_steps,
            run_every_secs=None if by_steps else self.params.every_secs,
            run_every_steps=self.params.every_steps,
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
