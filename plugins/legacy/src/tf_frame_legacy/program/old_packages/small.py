"""yaml.load without a loader, and inspect.getargspec."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import yaml


def load(stream: Any, Loader: Any = yaml.FullLoader) -> Any:
    """Reads the first document; any object of plain Python, as PyYAML 5.1 did by default."""
    return yaml.load(stream, Loader)


def load_all(stream: Any, Loader: Any = yaml.FullLoader) -> Any:
    """Yields all documents; see `load`."""
    return yaml.load_all(stream, Loader)


class ArgSpec(NamedTuple):
    """Names and defaults of the arguments of a function."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """Returns the arguments of a function without keyword-only ones.

    Raises:
      ValueError: it has keyword-only arguments.
    """
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs:
        raise ValueError("Function has keyword-only parameters, use inspect.signature()")
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
