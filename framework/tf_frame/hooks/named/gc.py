"""The hook `gc`: Python's garbage is collected every so many steps, and at no other time.

--hook gc:500
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


@dataclasses.dataclass(frozen=True)
class Params:
    """Options."""

    every_steps: int = option(1000, "steps from one collection to the next", min=1)
    freeze_after_steps: int = option(
        10, "steps of a session after which what is alive is frozen", min=1
    )


class Gc(HookPlugin):
    """Collects garbage every so many steps, and passes over what was alive at the start."""

    Params: ClassVar[type] = Params

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.garbage_collection import GarbageCollectionHook

        return GarbageCollectionHook(**dataclasses.asdict(self.params))
