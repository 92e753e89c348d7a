"""The hook `logging_tensor`: logs the values of tensors by name.

--hook logging_tensor:total_loss,learning_rate --hook.logging_tensor.every_steps 50
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin

_LOG = logging.getLogger("tf_frame")


class LoggingTensor(HookPlugin):
    """Logs the values of tensors every N steps or seconds; without either, every 100 steps.

    The lines are in MODEL_DIR/train.log, and with --verbosity info on the screen.

    Raises:
      ConfigError: no tensor is named, or both steps and seconds are given.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        tensors: tuple[str, ...] = option((), "names of tensors and variables, such as loss:0")
        every_steps: int | None = option(None, "steps between lines", min=1)
        every_secs: float | None = option(
            None, "seconds between lines, in place of every_steps", min=0.001
        )
        at_end: bool = option(False, "log at the end of training too, or only then")

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.tensors:
            raise ConfigError("logging_tensor: name at least one tensor, such as loss:0")
        if params.every_steps is not None and params.every_secs is not None:
            raise ConfigError("logging_tensor: give either every_steps or every_secs")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.feed import value_by_name
        from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook

        params = self.params
        by_default = params.every_secs is None and not params.at_end
        return LoggingTensorHook(
            {name: value_by_name(context.graph.graph, name) for name in params.tensors},
            every_n_iter=params.every_steps or (100 if by_default else None),
            every_n_secs=params.every_secs,
            at_end=params.at_end,
            formatter=_logged,
        )


def _logged(values: Mapping[str, Any]) -> str:
    """Returns the line for TensorFlow's log, after logging it for train.log."""
    line = ", ".join(f"{name} = {value}" for name, value in values.items())
    _LOG.info("%s", line)
    return line
