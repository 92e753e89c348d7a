"""Checks of optimizer options against exclusive bounds, which `option` does not have."""

from __future__ import annotations

from typing import Any

from tf_frame.errors import ConfigError


def check_below_one(params: Any, *names: str) -> None:
    """Refuses a decay rate of 1, with which a moving average never changes.

    Args:
      params: the optimizer's options.
      *names: names of the decay rates.

    Raises:
      ConfigError: a decay rate is 1 or more.
    """
    for name in names:
        value = getattr(params, name)
        if value >= 1:
            raise ConfigError(f"--optimizer.{name} {value}: must be below 1, such as 0.9")


def check_positive(params: Any, *names: str) -> None:
    """Refuses zero for options that are used as divisors.

    Args:
      params: the optimizer's options.
      *names: names of the divisors.

    Raises:
      ConfigError: a divisor is 0 or less.
    """
    for name in names:
        value = getattr(params, name)
        if value <= 0:
            raise ConfigError(f"--optimizer.{name} {value}: must be above 0")
