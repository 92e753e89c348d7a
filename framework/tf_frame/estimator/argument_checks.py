"""Checks the arguments and functions that users give an Estimator, with tf.estimator's messages.

So code and tests that were written for tf.estimator find the errors that they expect. A user's
function may take any subset of the arguments; `called_with` gives it those that it names:

called_with(input_fn, mode="train", params=params, config=config)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that can still be given to a function by name.

    The names of a method come without `self`, those of a `functools.partial` without
    the arguments that it binds, those of an object from its `__call__`.
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


def check_takes(
    name: str,
    function: Callable[..., Any],
    *,
    required: Collection[str] = (),
    optional: Collection[str] = (),
) -> None:
    """Checks the arguments of a user's function.

    Args:
      name: name of the argument that holds the function, for the error.
      function: the function.
      required: arguments that it must take.
      optional: arguments that it may take; no others are allowed.

    Raises:
      ValueError: an argument is missing, or there is another one.
    """
    names = argument_names(function)
    for argument in required:
        if argument not in names:
            raise ValueError(f"{name} ({function}) must include {argument} argument.")
    others = [each for each in names if each not in (*required, *optional)]
    if others:
        raise ValueError(f"{name} ({function}) has following not expected args: {others}")


def check_not_overridden(base: type, obj: Any) -> None:
    """Checks that the class of an object overrides no member of a base class but `model_fn`.

    Raises:
      ValueError: it does, which would work with one version and fail with the next.
    """
    members = {name for name in dir(base) if not name.startswith("__")} - {"model_fn"}
    derived = [cls for cls in type(obj).__mro__ if issubclass(cls, base) and cls is not base]
    overridden = sorted(set().union(*(members & set(vars(cls)) for cls in derived)))
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{type(obj)} does override {overridden}"
        )


def checked_all(given: Iterable[Any] | None, kind: type, rule: str) -> tuple[Any, ...]:
    """Returns objects, or none for None, as a tuple.

    Raises:
      TypeError: an object is not an instance of `kind`; the error begins with `rule`.
    """
    found = tuple(given or ())
    for each in found:
        if not isinstance(each, kind):
            raise TypeError(f"{rule}, given: {each}")
    return found


def checked_hooks(
    hooks: Iterable[Any] | None, rule: str = "Hooks must be a SessionRunHook"
) -> tuple[Any, ...]:
    """Returns session hooks as a tuple; see `checked_all`."""
    return checked_all(hooks, tf.train.SessionRunHook, rule)


def checked_listeners(
    listeners: Iterable[Any] | None,
    rule: str = "saving_listeners must be a list of CheckpointSaverListener",
) -> tuple[Any, ...]:
    """Returns listeners to checkpoints as a tuple; see `checked_all`."""
    return checked_all(listeners, tf.train.CheckpointSaverListener, rule)


def check_steps(steps: int | None, max_steps: int | None = None) -> None:
    """Checks the number of steps to train or to evaluate.

    Raises:
      ValueError: both numbers are given, or one is not positive.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    for name, number in (("steps", steps), ("max_steps", max_steps)):
        if number is not None and number <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {number}")
