"""The hook `heartbeat`: writes to MODEL_DIR/heartbeat.json that training is alive.

--hook heartbeat:30
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.plugin.contracts import HookContext, HookPlugin


class Heartbeat(HookPlugin):
    """Writes state, step, time, process and host to MODEL_DIR/heartbeat.json."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        every_secs: float = option(60.0, "seconds between heartbeats", min=0.001)

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.heartbeat import HeartbeatHook

        return HeartbeatHook(
            context.model_dir, every_secs=self.params.every_secs, task=context.task
        )
