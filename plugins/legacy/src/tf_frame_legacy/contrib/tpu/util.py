"""Checks of `tensorflow.contrib.tpu.python.tpu.util`."""

from __future__ import annotations

import collections
import re
from typing import Any

_ITERATIONS = re.compile(r"([1-9]\d*)([smh]?)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

IterationsPerLoopCounter = collections.namedtuple("IterationsPerLoopCounter", "value unit")


def check_positive_integer(value: Any, name: str) -> None:
    """Checks an argument.

    Raises:
      TypeError: the value is no integer.
      ValueError: it is not positive.
    """
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def parse_iterations_per_loop(iterations_per_loop: int | str) -> IterationsPerLoopCounter:
    """Returns a number of steps as `(number, "count")`, and a time as `(number, "seconds")`.

    Args:
      iterations_per_loop: a number, or a time such as `60s`, `5m` or `1h`.

    Raises:
      ValueError: it is neither.
    """
    parts = _ITERATIONS.fullmatch(str(iterations_per_loop))
    if parts is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value "
            f"or time-based value such as `3600s`, `60m`, `1h`; got {iterations_per_loop}"
        )
    number, unit = int(parts[1]), parts[2]
    if not unit:
        return IterationsPerLoopCounter(number, "count")
    return IterationsPerLoopCounter(number * _SECONDS[unit], "seconds")
