"""The hook `final_values`: logs tensors once, after training.

--hook final_values:linear/weights,learning_rate
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin


class FinalValues(HookPlugin):
    """Logs the values of tensors and variables after the last step.

    Raises:
      ConfigError: no tensor is named.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        tensors: tuple[str, ...] = option((), "names of tensors and variables")

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.tensors:
            raise ConfigError("final_values: name at least one tensor or variable")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.final_values import FinalValuesHook

        return FinalValuesHook(self.params.tensors)
