"""The hook `slow_step`: says where a step hangs that takes far longer than others.

--hook slow_step:20 --hook.slow_step.floor_secs 1
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin


@dataclasses.dataclass(frozen=True)
class Params:
    """Options."""

    times: float = option(10.0, "a step is slow that takes more than so many times the median")
    floor_secs: float = option(5.0, "seconds that no step is slow below")
    pause_secs: float = option(60.0, "seconds at least between two that are told", min=0)


class SlowStep(HookPlugin):
    """Writes the stacks of all threads while a step takes far longer than others.

    They go to the log and to MODEL_DIR/slow_steps.log.

    Raises:
      ConfigError: `times` is not above 1, or `floor_secs` not above 0.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        for name, least in (("times", 1), ("floor_secs", 0)):
            if getattr(params, name) <= least:
                value = getattr(params, name)
                raise ConfigError(f"slow_step: {name} is {value:g}; it must be above {least}")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.slow_step import SlowStepHook

        return SlowStepHook(context.model_dir, task=context.task, **dataclasses.asdict(self.params))
