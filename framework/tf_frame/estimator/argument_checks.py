"""Checks the arguments and functions that users give an Estimator, with tf.estimator's messages.

Code and tests for tf.estimator expect these errors. A user's function may take any subset of the
arguments; `called_with` passes the arguments that the function takes:

    called_with(input_fn, mode="train", params=params, config=config)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that can be passed to a function by name.

    Leaves out the `self` of a method and the bound arguments of a `functools.partial`. The
    arguments of a callable object are the arguments of its `__call__`.
    """
    if isinstance(function, functools.partial):
        inner = argument_names(function.func)[len(function.args) :]
        return tuple(name for name in inner if name not in (function.keywords or {}))
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return tuple(argument.name for argument in parameters if argument.kind in kinds)


def called_with(function: Callable[..., Any], **offered: Any) -> Any:
    """Calls a function with the offered arguments that it takes."""
    names = set(argument_names(function))
    return function(**{name: value for name, value in offered.items() if name in names})


def check_takes(
    name: str,
    function: Callable[..., Any],
    *,
    required: Collection[str] = (),
    optional: Collection[str] = (),
) -> None:
    """Checks the arguments of a user's function, which is the argument `name`.

    Raises:
      ValueError: a required argument is missing, or an argument is neither required nor optional.
    """
    names = argument_names(function)
    for argument in required:
        if argument not in names:
            raise ValueError(f"{name} ({function}) must include {argument} argument.")
    unexpected = [argument for argument in names if argument not in (*required, *optional)]
    if unexpected:
        raise ValueError(f"{name} ({function}) has following not expected args: {unexpected}")


def check_not_overridden(base: type, obj: Any) -> None:
    """Checks that the class of an object overrides no member of a base class but `model_fn`.

    The classes of tf-frame and its plugins may do so, and, as in tf.estimator, a class with the
    name TPUEstimator: programs have copies of it.

    Raises:
      ValueError: a member is overridden; that might fail with the next version.
    """
    members = {name for name in dir(base) if not name.startswith("__")} - {"model_fn"}
    derived = [
        cls
        for cls in type(obj).__mro__
        if issubclass(cls, base)
        and cls is not base
        and not cls.__module__.startswith("tf_frame")
        and cls.__name__ != "TPUEstimator"
    ]
    overridden = sorted(set().union(*(members & set(vars(cls)) for cls in derived)))
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{type(obj)} does override {overridden}"
        )


def checked_hooks(
    hooks: Iterable[Any] | None,
    rule: str = "Hooks must be a SessionRunHook",
    kind: type = tf.train.SessionRunHook,
) -> tuple[Any, ...]:
    """Returns session hooks as a tuple, which is empty for None.

    Raises:
      TypeError: an object is not an instance of `kind`; the error begins with `rule`.
    """
    checked = tuple(hooks or ())
    for item in checked:
        if not isinstance(item, kind):
            raise TypeError(f"{rule}, given: {item}")
    return checked


def checked_listeners(
    listeners: Iterable[Any] | None,
    rule: str = "saving_listeners must be a list of CheckpointSaverListener",
) -> tuple[Any, ...]:
    """Returns checkpoint listeners as a tuple; see `checked_hooks`."""
    return checked_hooks(listeners, rule, tf.train.CheckpointSaverListener)


def check_trains(config: Any) -> None:
    """Raises a ValueError for the `RunConfig` of a task that does not train."""
    if config.task_type in ("evaluator", "ps"):
        raise ValueError(
            "Train has been called wrong configuration. Please use "
            "tf.estimator.train_and_evaluate which calls proper API according to given "
            f"configuration. Current configuration: {config}."
        )


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
