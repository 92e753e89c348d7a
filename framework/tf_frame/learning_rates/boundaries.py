"""Checks of learning rates that change at given steps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tf_frame.config.values import to_text
from tf_frame.errors import ConfigError


def check_boundaries(boundaries: Sequence[int]) -> None:
    """Checks the steps at which a learning rate changes.

    Raises:
      ConfigError: they do not increase from one to the next, or one is below 1.
    """
    wrong = [after for before, after in itertools.pairwise((0, *boundaries)) if after <= before]
    if wrong:
        raise ConfigError(
            f"--schedule.boundaries {to_text(tuple(boundaries))}: each must be greater than the "
            f"one before and greater than 0; {wrong[0]} is not"
        )


def check_rates(rates: Sequence[float], count: int, why: str) -> None:
    """Checks the number of learning rates.

    Args:
      rates: the rates given.
      count: how many there must be.
      why: why so many.

    Raises:
      ConfigError: there are more or fewer.
    """
    if len(rates) != count:
        raise ConfigError(
            f"--schedule.learning_rates has {len(rates)} values ({to_text(tuple(rates))}), "
            f"{count} are needed: {why}"
        )
