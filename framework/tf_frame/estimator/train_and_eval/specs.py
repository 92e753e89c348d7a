"""What `train_and_evaluate` trains on and evaluates with.

Fields, checks and error texts are those of tensorflow_estimator, training.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.estimator.exporters import Exporter


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: int | None
    hooks: tuple[Any, ...]
    saving_listeners: tuple[Any, ...]


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class TrainSpec(_TrainFields):
    """The training part of `train_and_evaluate`.

    Args:
      input_fn: where the training data comes from: a function, as for
        `Estimator.train`, or a `tf_frame.Input`.
      max_steps: global step to end at; None for as long as there is data.
      hooks: session hooks of every task that trains.
      saving_listeners: `tf.train.CheckpointSaverListener`s of the chief.

    Raises:
      ValueError: `max_steps` is not positive.
      TypeError: an argument is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Any,
        max_steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        listeners = checked_all(
            saving_listeners,
            tf.train.CheckpointSaverListener,
            "All saving_listeners must be `CheckpointSaverListener` instances",
        )
        return super().__new__(cls, input_fn, max_steps, spec_hooks(hooks), listeners)


class EvalSpec(_EvalFields):
    """The evaluation part of `train_and_evaluate`, and what is exported after it.

    Args:
      input_fn: where the evaluation data comes from, as in `TrainSpec`.
      steps: batches of an evaluation at most; None for all there are.
      name: of the evaluation, where there are several: the name of its folder.
      hooks: session hooks of each evaluation.
      exporters: `Exporter`s that are asked after each evaluation: one, several or none.
      start_delay_secs: seconds that a task which only evaluates waits before it begins.
      throttle_secs: seconds from the start of one evaluation to the next, at least.

    Raises:
      ValueError: a number is out of range, or exporters share a name.
      TypeError: an argument is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Any,
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = spec_hooks(hooks), _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs
        )


def spec_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """The hooks, as a tuple.

    Raises:
      TypeError: one is no session hook.
    """
    what = "All hooks must be `SessionRunHook` instances"
    return checked_all(hooks, tf.train.SessionRunHook, what)


def checked_all(given: Iterable[Any] | None, kind: type, what: str) -> tuple[Any, ...]:
    """What was given, as a tuple.

    Args:
      given: objects, or None.
      kind: the class that all must be of.
      what: how the error begins.

    Raises:
      TypeError: one is of another class.
    """
    found = tuple(given or ())
    for each in found:
        if not isinstance(each, kind):
            raise TypeError(f"{what}, given: {each}")
    return found


def _check_input_fn(input_fn: Any) -> None:
    is_input = hasattr(input_fn, "dataset") and hasattr(input_fn, "info")
    if not (callable(input_fn) or is_input):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    """One exporter, several or none, as a tuple."""
    found = (exporters,) if isinstance(exporters, Exporter) else exporters or ()
    try:
        found = tuple(found)
    except TypeError:
        raise _no_exporters(exporters) from None
    for exporter in found:
        if not isinstance(exporter, Exporter):
            raise _no_exporters(exporters)
    _check_names([exporter.name for exporter in found])
    return found


def _no_exporters(given: Any) -> TypeError:
    return TypeError(
        f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {given}."
    )


def _check_names(names: list[Any]) -> None:
    for position, name in enumerate(names):
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names: "
                f"{names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if name in names[:position]:
            raise ValueError(
                "`exporters` must have unique names. Such a name cannot be `None`. All exporter "
                f"names: {names}"
            )
