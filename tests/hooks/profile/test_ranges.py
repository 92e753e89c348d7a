import math

import pytest

from recorded_steps import wanted
from tf_frame.errors import ConfigError
from tf_frame.hooks.profile import OwnSteps, RangeCadence


@pytest.mark.parametrize(
    ("at_steps", "options", "last", "expected"),
    [
        ([3], {"num_steps": 4}, 100, [3, 4, 5, 6]),
        ([5, 3, 6, 5], {"num_steps": 2}, 100, [3, 4, 5, 6, 7]),  # Ranges that touch or overlap.
        ([], {"num_steps": 2, "every_steps": 5}, 17, [5, 6, 10, 11, 15, 16]),
        ([4, 8], {"num_steps": 2, "every_steps": 10}, 21, [4, 5, 8, 9, 10, 11, 20, 21]),
        ([], {"num_steps": 5}, 100, []),
    ],
)
def test_every_step_of_the_ranges_comes_once(at_steps, options, last, expected):
    ranges, steps = RangeCadence(at_steps, **options), []
    assert bool(ranges) == bool(expected)
    while (step := ranges.next_step()) <= last:
        steps.append(step)
        ranges.mark(step)
    assert steps == expected


@pytest.mark.parametrize(("every_steps", "after"), [(100, 100), (None, math.inf)])
def test_within_and_after_a_range_the_next_step_is_known(every_steps, after):
    ranges, next_steps = RangeCadence([10], num_steps=5, every_steps=every_steps), []
    for step in (12, 13, 14):
        ranges.mark(step)
        next_steps.append(ranges.next_step())
    assert next_steps == [13, 14, after]


def test_a_step_that_is_passed_over_is_made_up_for_once():
    ranges = RangeCadence([10], num_steps=3, every_steps=100)
    ranges.mark(8)
    assert wanted(ranges, [9, 25, 26]) == [25]
    assert ranges.next_step() == 100


@pytest.mark.parametrize(
    ("at_steps", "restored", "expected"),
    [
        ([10], 9, [10, 11, 12]),
        ([10], 10, [11, 12, 13]),
        ([10], 40, [41, 42, 43]),
        ([10, 42], 40, [41, 42, 43, 44]),
    ],
)
def test_a_range_is_made_up_after_the_step_of_a_resumed_run(at_steps, restored, expected):
    ranges = RangeCadence(at_steps, num_steps=3)
    ranges.start(restored)
    if ranges.last_begin(restored) is not None:
        ranges.make_up(restored)
    assert wanted(ranges, range(restored + 1, 60)) == expected


def test_steps_of_other_workers_do_not_count():
    cadence, profiled = OwnSteps(10, 3), []
    cadence.start(4)
    for step in (5, 9, 12, 40, 90, 91, 92):
        if cadence.wants(step):
            profiled.append((step, cadence.ends_at(step)))
            cadence.mark(step)
    assert profiled == [(12, False), (40, False), (90, True)]
    assert cadence.next_step() == math.inf


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
