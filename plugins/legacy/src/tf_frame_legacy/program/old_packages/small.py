"""yaml.load without a loader, inspect.getargspec, pickle with files of text, samples of sets."""

from __future__ import annotations

import inspect
import io
import pickle
import random
from collections.abc import Callable, Set
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


def sample(population: Any, k: int, **options: Any) -> list[Any]:
    """Returns some elements of a sequence or, as until Python 3.10, of a set."""
    population = tuple(population) if isinstance(population, Set) else population
    return random.sample(population, k, **options)


def dump(obj: Any, file: Any, *arguments: Any, **options: Any) -> None:
    """Pickles an object into a file, which may be open for text, as Python 2 allowed."""
    pickle.dump(obj, _bytes_of(file), *arguments, **options)


def load_pickle(file: Any, **options: Any) -> Any:
    """Reads a pickled object, also one with texts or arrays that Python 2 has pickled."""
    file = _bytes_of(file)
    start = file.tell() if file.seekable() else None
    try:
        return pickle.load(file, **options)
    except UnicodeDecodeError:
        if start is None or "encoding" in options:
            raise
        file.seek(start)
        return pickle.load(file, encoding="latin1", **options)


def _bytes_of(file: Any) -> Any:
    return file.buffer if isinstance(file, io.TextIOWrapper) else file
