"""Numbers of channels that suit the hardware: multiples of eight.

Source: slim, nets/mobilenet/conv_blocks.py.
"""

from __future__ import annotations

import itertools


def make_divisible(value: float, divisor: int = 8, min_value: int | None = None) -> int:
    """Rounds a number of channels to a multiple, at least 0.9 of what it was.

    Args:
      value: the number of channels.
      divisor: the multiple.
      min_value: the smallest result; `divisor` when None.
    """
    smallest = divisor if min_value is None else min_value
    rounded = max(smallest, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def split_divisible(count: int, num_ways: int, divisible_by: int = 8) -> list[int]:
    """Splits a number of channels into parts as equal as multiples can be.

    Args:
      count: the number of channels.
      num_ways: number of parts.
      divisible_by: each part is a multiple of this.

    Raises:
      ValueError: `count` is no multiple, or too small for so many parts.
    """
    if count % divisible_by or count < num_ways * divisible_by:
        raise ValueError(
            f"{count} channels do not split into {num_ways} multiples of {divisible_by}"
        )
    ends = [
        -(-count * index // (num_ways * divisible_by)) * divisible_by
        for index in range(num_ways + 1)
    ]
    return [end - start for start, end in itertools.pairwise(ends)]
