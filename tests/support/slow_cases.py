"""Cases of parametrized tests that only `-m slow` runs."""

import pytest


def slow(*values, **options):
    """Returns a case that is marked `slow`, with options of `pytest.param`."""
    return pytest.param(*values, marks=pytest.mark.slow, **options)


def slow_but(fast, cases, several=False):
    """Returns cases that are marked `slow` except at certain places.

    Args:
      fast: the place of the case that stays in the default suite, or a tuple of places; a negative
        place counts from the end.
      cases: values of the argument, or results of `pytest.param`.
      several: whether a case is a tuple with a value of each of several arguments.
    """
    cases = list(cases)
    places = {place % len(cases) for place in (fast if isinstance(fast, tuple) else (fast,))}
    return [
        case if place in places else _marked_slow(case, several) for place, case in enumerate(cases)
    ]


def _marked_slow(case, several):
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.slow), id=case.id)
    return slow(*case) if several else slow(case)
