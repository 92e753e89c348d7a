"""What an estimator checks of what it is given, with the words of tf.estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def check_not_overridden(base: type, obj: Any) -> None:
    """Checks that the class of an object overrides no member of a base class but `model_fn`.

    Raises:
      ValueError: it does, which would work with one version and fail with the next.
    """
    members = {name for name in dir(base) if not name.startswith("__")} - {"model_fn"}
    overridden = sorted(
        {
            name
            for cls in type(obj).__mro__
            if issubclass(cls, base) and cls is not base
            for name in members & set(vars(cls))
        }
    )
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{type(obj)} does override {overridden}"
        )


def checked_hooks(hooks: Iterable[Any] | None) -> list[Any]:
    """The hooks, as a list.

    Raises:
      TypeError: one is no `SessionRunHook`.
    """
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found


def checked_listeners(listeners: Iterable[Any] | None) -> list[Any]:
    """The listeners, as a list.

    Raises:
      TypeError: one is no `CheckpointSaverListener`.
    """
    found = list(listeners or ())
    for listener in found:
        if not isinstance(listener, tf.train.CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return found


def check_steps(steps: int | None, max_steps: int | None = None) -> None:
    """Checks how long to train or to evaluate.

    Raises:
      ValueError: both are given, or one is not positive.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    if max_steps is not None and max_steps <= 0:
        raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
