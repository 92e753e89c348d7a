"""The hook `garbage_collection`: runs Python's garbage collector every N steps only.

--hook garbage_collection:500
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


class GarbageCollection(HookPlugin):
    """Collects garbage every N steps, and leaves out objects of the first steps."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        every_steps: int = option(1000, "steps between collections", min=1)
        freeze_after_steps: int = option(
            10, "step of a session after which all live objects are frozen", min=1
        )

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.garbage_collection import GarbageCollectionHook

        return GarbageCollectionHook(**dataclasses.asdict(self.params))
