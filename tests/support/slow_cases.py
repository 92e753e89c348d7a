"""Cases of a parametrized test, of which most may be left to `-m slow`."""

import pytest


def slow_but(kept, cases):
    """Returns cases of one argument, marked `slow` but for those at certain places.

    Args:
      kept: the place of the case that stays in the default suite, or a tuple of places; a negative
        one counts from the end.
      cases: values of the argument.
    """
    cases = list(cases)
    places = {place % len(cases) for place in (kept if isinstance(kept, tuple) else (kept,))}
    return [
        pytest.param(case, marks=() if place in places else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
