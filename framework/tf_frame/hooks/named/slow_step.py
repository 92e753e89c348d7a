"""The hook `slow_step`: writes the stacks of all threads while a step takes too long.

--hook slow_step:20 --hook.slow_step.floor_secs 1
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


class SlowStep(HookPlugin):
    """Writes the stacks of all threads while a step takes far longer than others.

    They are written to the log and to MODEL_DIR/slow_steps.log.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        times: float = option(
            10.0, "a step is slow if it takes more than this many times the median", min=1.1
        )
        floor_secs: float = option(5.0, "a step of fewer seconds is never slow", min=0.001)
        pause_secs: float = option(60.0, "least seconds between two reports", min=0)

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.slow_step import SlowStepHook

        return SlowStepHook(context.model_dir, task=context.task, **dataclasses.asdict(self.params))
