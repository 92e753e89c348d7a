"""Ranges of steps to profile, as `--profile_at_step` and `--profile_every_n_steps` give them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tf_frame.errors import ConfigError


class StepRanges:
    """Ranges `[s, s + num_steps)`; ranges that touch or overlap are one.

    Args:
      at_steps: first steps of ranges.
      num_steps: number of steps in each range.
      every_steps: further ranges begin at multiples of this number; None: no others.

    Raises:
      ConfigError: a number is not positive, or each range touches the next.
    """

    def __init__(
        self, at_steps: Iterable[int] = (), *, num_steps: int, every_steps: int | None = None
    ) -> None:
        self.at_steps = tuple(sorted(set(at_steps)))
        self.num_steps = num_steps
        self.every_steps = every_steps
        if num_steps < 1:
            raise ConfigError(f"a profile of {num_steps} steps; it needs one at least")
        if self.at_steps and self.at_steps[0] < 1:
            raise ConfigError(f"a profile at step {self.at_steps[0]}; the first step is 1")
        if every_steps is not None and every_steps <= num_steps:
            raise ConfigError(
                f"a profile of {num_steps} steps every {every_steps} steps never ends; make the "
                "profiles shorter, or further apart"
            )

    def next_after(self, step: int) -> float:
        """The first step after `step` that is in a range; infinite if there is none."""
        after = step + 1
        begins = [max(after, s) for s in self.at_steps if after < s + self.num_steps]
        if self.every_steps is not None:
            into = after % self.every_steps
            inside = after >= self.every_steps and into < self.num_steps
            begins.append(after if inside else after - into + self.every_steps)
        return min(begins, default=math.inf)

    def __bool__(self) -> bool:
        """True if there is any range."""
        return bool(self.at_steps or self.every_steps)

    def __str__(self) -> str:
        last = self.num_steps - 1
        parts = [f"{s} to {s + last}" if last else str(s) for s in self.at_steps]
        if self.every_steps is not None:
            parts.append(f"{self.num_steps} from every {self.every_steps}th on")
        return "steps " + ", ".join(parts) if parts else "no step"
