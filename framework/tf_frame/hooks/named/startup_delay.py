"""The hook `startup_delay`: lets each worker begin later than the one before.

--hook startup_delay:15
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


@dataclasses.dataclass(frozen=True)
class Params:
    """Options, of which each worker takes its number as a multiple; the chief never waits."""

    steps: int = option(0, "worker K begins at K times this global step", min=0)
    secs: float = option(0.0, "worker K waits K times so many seconds", min=0)


class StartupDelay(HookPlugin):
    """Workers begin one by one, so that their large first updates come one at a time."""

    Params: ClassVar[type] = Params

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.startup_delay import StartupDelayHook

        return StartupDelayHook(
            until_step=context.task * self.params.steps, secs=context.task * self.params.secs
        )
