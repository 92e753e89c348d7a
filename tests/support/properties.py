"""Property tests: checks of values that hypothesis makes; few in the default suite, many by `slow`.

@COUNTS
def test_names_are_read_as_they_were_written(tmp_path, count):
    def check(names):
        assert read(write(tmp_path, names)) == names

    check_many(check, count, names=strategies.lists(NAMES))
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from slow_cases import slow

COUNTS = pytest.mark.parametrize("count", [10, slow(2000)])

# All of Unicode; surrogates are no characters.
CHARACTERS = strategies.characters(exclude_categories=["Cs"])
_HARD = ["'", '"', "\\", "{", "}", "\n", "\r", "\t", " ", "\x85", "\u2028", "\x0b", "=", ",", ":"]
_HARD += ["\x1b", "\u202e", "\u00a0", "$", "`", "-", "#", "&", "<", "*"]
# Texts that are likely to break a format: with quotes, braces, line ends, blanks, control
# characters, and signs of shells and of HTML.
TEXTS = strategies.text(strategies.one_of(strategies.sampled_from(_HARD), CHARACTERS), max_size=12)


def check_many(
    check: Callable[..., None], count: int, **values: strategies.SearchStrategy[Any]
) -> None:
    """Calls a check for many values; the same ones each time, so that a failure can be repeated."""
    options = settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    options(given(**values)(check))()
