"""Which of two evaluations is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.estimator.model_function.arguments import argument_names

_LOSS = "loss"
_ARGUMENTS = ("best_eval_result", "current_eval_result")


def loss_smaller(
    best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
) -> bool:
    """Whether the loss has become smaller; any number is smaller than not-a-number.

    Args:
      best_eval_result: metric -> value of the best evaluation.
      current_eval_result: the same of the last one.

    Raises:
      ValueError: one of them has no loss.
    """
    for name, result in zip(_ARGUMENTS, (best_eval_result, current_eval_result), strict=True):
        if not result or _LOSS not in result:
            raise ValueError(
                f"{name} cannot be empty or no loss is found in it. It has: {names_of(result)}"
            )
    best, current = float(best_eval_result[_LOSS]), float(current_eval_result[_LOSS])
    return best > current or (math.isnan(best) and not math.isnan(current))


def check_compare_fn(function: Callable[..., bool] | None) -> None:
    """Checks that a function takes the two results under their names.

    Raises:
      ValueError: it does not, with the words of tensorflow_estimator, exporter.py.
    """
    if function is None:
        raise ValueError("`compare_fn` must not be None.")
    names = argument_names(function)
    for name in _ARGUMENTS:
        if name not in names:
            raise ValueError(f"compare_fn ({function}) must include {name} argument.")
    others = [name for name in names if name not in _ARGUMENTS]
    if others:
        raise ValueError(f"compare_fn ({function}) has following not expected args: {others}")


def names_of(result: Mapping[str, Any] | None) -> str:
    """The names of the metrics of an evaluation, for a message."""
    return ", ".join(sorted(result or {})) or "nothing"
