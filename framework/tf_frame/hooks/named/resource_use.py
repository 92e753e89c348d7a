"""The hook `resource_use`: logs memory, open files and threads of the process.

--hook resource_use:500
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin


class ResourceUse(HookPlugin):
    """Logs the resources that the process uses, and warns if its memory grows.

    The chief also writes them as summaries `resources/...`.

    Raises:
      ConfigError: neither steps nor seconds are given.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        every_steps: int | None = option(100, "steps between measurements; none: by seconds", min=1)
        every_secs: float | None = option(
            None, "seconds between measurements; with steps, whichever comes first", min=0.001
        )
        growth: float = option(
            0.2,
            "warn when memory has grown by this fraction since the tenth measurement",
            min=0.001,
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if params.every_steps is None and params.every_secs is None:
            raise ConfigError("resource_use: give every_steps or every_secs")

    def __call__(self, context: HookContext) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame.hooks.resource_use import ResourceUseHook

        # The first caller that gets the writer makes it write the default graph.
        with context.graph.graph.as_default():
            writer = tf.summary.FileWriterCache.get(context.model_dir) if context.is_chief else None
        return ResourceUseHook(**dataclasses.asdict(self.params), writer=writer)
