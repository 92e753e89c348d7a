"""The hook `feed`: feeds tensors of the graph with constants.

--hook feed --hook.feed.values keep_prob:0=0.5
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import HookContext, HookPlugin


class Feed(HookPlugin):
    """Feeds tensors of the graph, such as placeholders, with the same values in every step.

    It runs at every step, which turns the fast path off.

    Raises:
      ConfigError: no values, a text that is not TENSOR=VALUE, or a tensor that is given twice.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options."""

        values: tuple[str, ...] = option(
            (), "TENSOR=VALUE, such as keep_prob:0=0.5 or size=[8, 8]; repeatable", verbatim=True
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.values:
            raise ConfigError("feed: nothing to feed; give values, such as keep_prob:0=0.5")
        self.values: dict[str, str] = {}
        for text in params.values:
            name, equals, value = text.partition("=")
            if not (name and equals):
                raise ConfigError(f"feed: {text!r} is not TENSOR=VALUE")
            if name in self.values:
                raise ConfigError(f"feed: {name!r} is given twice")
            self.values[name] = value

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.feed import FeedHook

        return FeedHook(self.values)
