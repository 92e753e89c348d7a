"""The hook `resource_use`: logs and writes memory, open files and threads.

--hook resource_use:500
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

    every_steps: int | None = option(100, "steps from one time to the next; none: no steps", min=1)
    every_secs: float | None = option(None, "seconds likewise, whichever comes first", min=0)
    growth: float = option(
        0.2, "warn where memory has grown by this share since the tenth time", min=0
    )


class ResourceUse(HookPlugin):
    """Logs what the process takes of its host, and warns where its memory grows.

    The chief also writes it as summaries `resources/...`.

    Raises:
      ConfigError: a number of seconds or a share that is 0, or neither steps nor seconds.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if params.every_steps is None and params.every_secs is None:
            raise ConfigError("resource_use: give every_steps or every_secs")
        for name in ("every_secs", "growth"):
            if getattr(params, name) == 0:
                raise ConfigError(f"resource_use: {name} is 0; it must be positive")

    def __call__(self, context: HookContext) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame.hooks.resource_use import ResourceUseHook

        # Whoever asks for the writer first has it write the default graph, too.
        with context.graph.graph.as_default():
            writer = tf.summary.FileWriterCache.get(context.model_dir) if context.is_chief else None
        return ResourceUseHook(
            every_steps=self.params.every_steps,
            every_secs=self.params.every_secs,
            growth=self.params.growth,
            writer=writer,
        )
