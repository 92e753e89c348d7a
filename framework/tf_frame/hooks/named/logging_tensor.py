"""The hook `logging_tensor`: logs the values of tensors by name.

--hook logging_tensor:total_loss,learning_rate --hook.logging_tensor.every_steps 50
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Params:
    """Options."""

    tensors: tuple[str, ...] = option((), "names of tensors and variables, such as loss:0")
    every_steps: int | None = option(None, "steps from one line to the next", min=1)
    every_secs: float | None = option(None, "seconds likewise; give one of the two", min=0)
    at_end: bool = option(False, "also log them, or only then, when training has ended")


class LoggingTensor(HookPlugin):
    """Logs the values of tensors every so many steps or seconds; without either, 100 steps.

    They are in MODEL_DIR/train.log, and with --verbosity info on the screen.

    Raises:
      ConfigError: no tensor is named, or both steps and seconds are given.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.tensors:
            raise ConfigError("logging_tensor: name at least one tensor, such as loss:0")
        if params.every_steps is not None and params.every_secs is not None:
            raise ConfigError("logging_tensor: give either every_steps or every_secs")
        if params.every_secs == 0:
            raise ConfigError("logging_tensor: every_secs is 0; it must be positive")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.session_feed import value_called
        from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook

        graph = context.graph.graph
        params = self.params
        by_time = params.every_secs is not None or params.at_end
        return LoggingTensorHook(
            {name: value_called(graph, name) for name in params.tensors},
            every_n_iter=params.every_steps or (None if by_time else 100),
            every_n_secs=params.every_secs,
            at_end=params.at_end,
            formatter=_noted,
        )


def _noted(values: Mapping[str, Any]) -> str:
    """The line that TensorFlow logs; ours has it as well, for train.log."""
    line = ", ".join(f"{name} = {value}" for name, value in values.items())
    _LOG.info("%s", line)
    return line
