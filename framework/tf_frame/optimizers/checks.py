"""Checks of optimizer options that bounds cannot express."""

from __future__ import annotations

from typing import Any

from tf_frame.errors import ConfigError


def check_below_one(params: Any, *names: str) -> None:
    """Refuses decay rates of 1, with which an average never moves.

    Args:
      params: the optimizer's options.
      *names: names of the decay rates among them.

    Raises:
      ConfigError: one of them is 1 or more.
    """
    for name in names:
        value = getattr(params, name)
        if value >= 1:
            raise ConfigError(f"--optimizer.{name} {value}: must be below 1, such as 0.9")


def check_positive(params: Any, *names: str) -> None:
    """Refuses zero for numbers that are divided by.

    Args:
      params: the optimizer's options.
      *names: names of these numbers among them.

    Raises:
      ConfigError: one of them is 0 or less.
    """
    for name in names:
        value = getattr(params, name)
        if value <= 0:
            raise ConfigError(f"--optimizer.{name} {value}: must be above 0")
