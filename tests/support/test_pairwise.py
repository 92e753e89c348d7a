import itertools

import pytest

from pairwise import pairwise

OPTIONS = [[1, 2, 4, 11], [0, 1, 2, 3], ["gpu", "cpu", "logical"], [True, False]]


@pytest.mark.parametrize("options", [OPTIONS, OPTIONS[1:], OPTIONS[:2], [[1], [2], [3]]])
def test_every_pair_occurs_and_no_case_twice(options):
    cases = pairwise(*options)
    assert len(set(cases)) == len(cases)
    assert set(cases) <= set(itertools.product(*options))
    for (i, first), (j, second) in itertools.combinations(enumerate(options), 2):
        pairs = set(itertools.product(first, second))
        assert {(case[i], case[j]) for case in cases} == pairs


def test_the_cases_are_few_and_always_the_same():
    cases = pairwise(*OPTIONS)
    assert len(cases) <= 17  # of 96
    assert cases == pairwise(*OPTIONS)
