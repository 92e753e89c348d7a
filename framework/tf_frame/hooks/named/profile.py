"""The hook `profile`: records a profile of some steps for TensorBoard.

--hook profile:20,200 --hook.profile.num_steps 3
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin


@dataclasses.dataclass(frozen=True)
class Params:
    """Options; --profile_at_step and the like are the same for one profile."""

    at_steps: tuple[int, ...] = option((), "global steps at which a profile begins", min=1)
    every_steps: int | None = option(
        None, "steps from one profile to the next, beside at_steps", min=1
    )
    num_steps: int = option(3, "steps in a profile", min=1)
    all_workers: bool = option(False, "let every worker record one, not the chief alone")


class Profile(HookPlugin):
    """Records profiles of the host and the devices, beside those of --profile_at_step.

    Raises:
      ConfigError: neither `at_steps` nor `every_steps` is given.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.at_steps and params.every_steps is None:
            raise ConfigError("profile: say when: at_steps, every_steps or both")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.profile import ProfileHook

        if not (context.is_chief or self.params.all_workers):
            return []
        return ProfileHook(
            context.model_dir,
            at_steps=self.params.at_steps,
            every_steps=self.params.every_steps,
            num_steps=self.params.num_steps,
            task=context.task,
            is_chief=context.is_chief,
        )
