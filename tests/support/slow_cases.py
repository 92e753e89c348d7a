"""Cases of parametrized tests that only `-m slow` runs."""

import pytest


def slow(*values, **options):
    """Returns a case that is marked `slow`, with options of `pytest.param`."""
    return pytest.param(*values, marks=pytest.mark.slow, **options)


def slow_but(fast, cases):
    """Returns cases of one argument, marked `slow` except at certain places.

    Args:
      fast: the place of the case that stays in the default suite, or a tuple of places; a negative
        place counts from the end.
      cases: values of the argument.
    """
    cases = list(cases)
    places = {place % len(cases) for place in (fast if isinstance(fast, tuple) else (fast,))}
    return [
        pytest.param(case, marks=() if place in places else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
