import math

import pytest

from tf_frame.errors import ConfigError
from tf_frame.hooks.profile import RangeCadence


def steps_of(ranges, last):
    """Every step up to `last` that is in a range, asked one after the other."""
    steps = []
    while (step := ranges.next_step()) <= last:
        steps.append(step)
        ranges.mark(step)
    return steps


def test_a_range_has_its_first_step_and_so_many_in_all():
    assert steps_of(RangeCadence([3], num_steps=4), 100) == [3, 4, 5, 6]


def test_ranges_that_touch_or_overlap_count_once():
    assert steps_of(RangeCadence([5, 3, 6, 5], num_steps=2), 100) == [3, 4, 5, 6, 7]


def test_further_ranges_begin_at_the_multiples():
    ranges = RangeCadence(num_steps=2, every_steps=5)
    assert steps_of(ranges, 17) == [5, 6, 10, 11, 15, 16]


def test_both_kinds_add_up():
    ranges = RangeCadence([4, 8], num_steps=2, every_steps=10)
    assert steps_of(ranges, 21) == [4, 5, 8, 9, 10, 11, 20, 21]


def test_from_within_a_range_the_next_step_is_the_next():
    ranges = RangeCadence([10], num_steps=5, every_steps=100)
    found = []
    for step in (12, 13, 14):
        ranges.mark(step)
        found.append(ranges.next_step())
    assert found == [13, 14, 100]


def test_after_the_last_range_there_is_none():
    ranges = RangeCadence([10], num_steps=5)
    ranges.mark(14)
    assert ranges.next_step() == math.inf


def test_no_range_at_all_is_false():
    assert not RangeCadence(num_steps=5)
    assert RangeCadence([1], num_steps=5)
    assert RangeCadence(num_steps=5, every_steps=10)


def test_ranges_say_which_they_are():
    assert str(RangeCadence([20, 3], num_steps=5)) == "steps 3 to 7, 20 to 24"
    assert str(RangeCadence([3], num_steps=1)) == "steps 3"
    assert str(RangeCadence(num_steps=2, every_steps=9)) == "steps 2 from every 9th on"
    assert str(RangeCadence(num_steps=2)) == "no step"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_steps": 0}, "a profile of 0 steps; it needs at least one"),
        ({"at_steps": [0], "num_steps": 1}, "a profile at step 0; the first step is 1"),
        ({"num_steps": 5, "every_steps": 5}, "5 steps every 5 steps never ends"),
        ({"num_steps": 5, "every_steps": 0}, "5 steps every 0 steps never ends"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RangeCadence(**options)
