"""Few cases that hold every pair of values: for tests of options that multiply.

    @pytest.mark.parametrize(("num_clones", "num_ps_tasks", "kind"), pairwise(ONE, TWO, THREE))

Most mistakes show with one value or with two values together (Kuhn, Wallace and Gallo: "Software
fault interactions and implications for software testing", 2004), so that a full product of three
and more options repeats what its pairs have shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any


def pairwise(*values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Returns cases with one value of every option, so that each pair of values occurs in a case.

    Args:
      *values: the values of each option.

    Returns:
      The cases, the same ones for the same arguments, in the order of the full product.
    """
    options = [list(of_one) for of_one in values]
    cases = list(itertools.product(*(range(len(option)) for option in options)))
    missing = {pair for case in cases for pair in _pairs(case)}
    chosen = []
    while missing:
        best = max(cases, key=lambda case: len(missing.intersection(_pairs(case))))
        missing.difference_update(_pairs(best))
        chosen.append(best)
    return [
        tuple(option[i] for option, i in zip(options, case, strict=True)) for case in sorted(chosen)
    ]


def _pairs(case: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    return itertools.combinations(enumerate(case), 2)
