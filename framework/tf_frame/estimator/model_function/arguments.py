"""What the functions of a user's script take, and how they are called.

called_with(input_fn, mode="train", params=params, config=config)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's arguments, as far as they can be given by name.

    For a method without `self`, for a `functools.partial` without those that
    it gives already, for an object with `__call__` those of that.
    """
    if isinstance(function, functools.partial):
        inner = argument_names(function.func)[len(function.args) :]
        return tuple(name for name in inner if name not in (function.keywords or {}))
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in kinds)


def called_with(function: Callable[..., Any], **offered: Any) -> Any:
    """Calls a function with those of the offered arguments that it takes."""
    taken = set(argument_names(function))
    return function(**{name: value for name, value in offered.items() if name in taken})
