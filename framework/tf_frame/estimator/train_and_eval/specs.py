"""`TrainSpec` and `EvalSpec`, the arguments of `train_and_evaluate`.

Fields, checks and error texts are taken from tensorflow_estimator, training.py.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from tf_frame.estimator.argument_checks import check_steps, checked_hooks, checked_listeners
from tf_frame.estimator.exporters import Exporter

_HOOKS = "All hooks must be `SessionRunHook` instances"
_LISTENERS = "All saving_listeners must be `CheckpointSaverListener` instances"

_TrainFields = collections.namedtuple(
    "_TrainFields", ["input_fn", "max_steps", "hooks", "saving_listeners"]
)
_EvalFields = collections.namedtuple(
    "_EvalFields",
    ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"],
)


class TrainSpec(_TrainFields):
    """Training data, hooks and last step of `train_and_evaluate`.

    Args:
      input_fn: the training data: a function, as for `Estimator.train`, or a `tf_frame.Input`.
      max_steps: global step at the end; None to train until the data ends.
      hooks: session hooks of every task that trains.
      saving_listeners: `tf.train.CheckpointSaverListener`s of the chief.

    Raises:
      ValueError: `max_steps` is not positive.
      TypeError: an argument has the wrong type.
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
        check_steps(None, max_steps)
        listeners = checked_listeners(saving_listeners, _LISTENERS)
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks, _HOOKS), listeners)


class EvalSpec(_EvalFields):
    """Evaluation data, intervals and exporters of `train_and_evaluate`.

    Args:
      input_fn: the evaluation data, as in `TrainSpec`.
      steps: largest number of batches of an evaluation; None for all data.
      name: name of the evaluation, and of its folder, if there are several.
      hooks: session hooks of each evaluation.
      exporters: an `Exporter`, several or None; called after each evaluation.
      start_delay_secs: seconds that an evaluator task waits before it begins.
      throttle_secs: least number of seconds between the starts of two evaluations.

    Raises:
      ValueError: a number is out of range, or exporters share a name.
      TypeError: an argument has the wrong type.
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
        check_steps(steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = checked_hooks(hooks, _HOOKS), _checked_exporters(exporters)
        intervals = {"start_delay_secs": start_delay_secs, "throttle_secs": throttle_secs}
        for interval, secs in intervals.items():
            if secs < 0:
                raise ValueError(f"Must specify {interval} >= 0, given: {secs}")
        return super().__new__(
            cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs
        )


def _check_input_fn(input_fn: Any) -> None:
    is_input = hasattr(input_fn, "dataset") and hasattr(input_fn, "info")
    if not (callable(input_fn) or is_input):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    """Returns one exporter, several or None as a tuple."""
    several = (exporters,) if isinstance(exporters, Exporter) else exporters or ()
    several = tuple(several) if isinstance(several, Iterable) else (several,)
    if not all(isinstance(exporter, Exporter) for exporter in several):
        raise TypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{exporters}."
        )
    names = [exporter.name for exporter in several]
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
    return several
