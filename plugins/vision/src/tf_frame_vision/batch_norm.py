"""Decay of batch norm's moving statistics in a run of few steps.

Published networks keep 0.997 or 0.9997 of the statistics per step. After 300 steps these are still
0.4 or 0.9 of their initial values, mean 0 and variance 1, and evaluation is at chance, however
well the network has learnt.
"""

from __future__ import annotations

from collections.abc import Sequence

# The statistics average over about the last 1 / 25 of the run. Their initial values then weigh
# nothing, nor do those from before the layers changed; measured in docs/training/figures.md.
_PARTS = 25


def fitting_decay(own: float | None, num_steps: int | None) -> float | None:
    """Returns the decay of a network, lowered to N / (N + 25) for a run of N steps.

    Args:
      own: the network's own decay; None: it has none.
      num_steps: number of steps; None: the network's own decay holds.
    """
    if own is None or num_steps is None:
        return own
    return min(own, num_steps / (num_steps + _PARTS))


def note_on_decay(own: float | None, num_steps: int | None) -> Sequence[str]:
    """Returns a line for the user if `fitting_decay` lowers the decay."""
    decay = fitting_decay(own, num_steps)
    if own is None or decay is None or decay >= own:
        return ()
    return (
        f"batch norm keeps {decay:.3f} of its moving statistics per step, to fit {num_steps} steps;"
        f" --model.batch_norm_decay {own:g} is that of the network, for long runs",
    )
