"""The hook `timeline`: writes when each operation of a step ran, for chrome://tracing.

--hook timeline:500 --hook.timeline.gzip
--hook timeline --hook.timeline.at_steps 60
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


@dataclasses.dataclass(frozen=True)
class Params:
    """Options; --trace_every_n_steps and the like are the same for one timeline."""

    every_steps: int = option(100, "steps from one timeline to the next", min=1)
    at_steps: tuple[int, ...] = option(
        (), "global steps that are traced in place of every so many", min=1
    )
    gzip: bool = option(False, "compress the files")
    memory: bool = option(False, "also show the memory of tensors")
    dataflow: bool = option(True, "also show which operation waits for which")
    folder: str = option("", "where in MODEL_DIR the files go; empty: in itself")


class Timeline(HookPlugin):
    """Writes timelines on the chief, beside those of --trace_every_n_steps."""

    Params: ClassVar[type] = Params

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.timeline import TimelineHook

        if not context.is_chief:
            return []
        return TimelineHook(
            os.path.join(context.model_dir, self.params.folder),
            every_steps=None if self.params.at_steps else self.params.every_steps,
            at_steps=self.params.at_steps,
            gzip=self.params.gzip,
            memory=self.params.memory,
            dataflow=self.params.dataflow,
        )
