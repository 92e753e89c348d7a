import pytest

from tf_frame.hooks.cadence import NEVER, Cadence, Either


def wanted(cadence, steps):
    """The wanted ones among some steps, if each wanted step is run and marked."""
    found = []
    for step in steps:
        if cadence.wants(step):
            found.append(step)
            cadence.mark(step)
    return found


def test_by_steps_the_first_is_wanted_and_every_nth_from_there():
    cadence = Cadence(every_steps=3)
    cadence.start(4)
    assert wanted(cadence, range(5, 15)) == [5, 8, 11, 14]


def test_without_the_first_the_nth_after_the_start_is_wanted():
    cadence = Cadence(every_steps=3, first=False)
    cadence.start(4)
    assert wanted(cadence, range(5, 15)) == [7, 10, 13]


def test_every_step_is_wanted():
    assert wanted(Cadence(every_steps=1), range(1, 5)) == [1, 2, 3, 4]


def test_a_step_that_is_passed_over_counts_at_the_next():
    cadence = Cadence(every_steps=3)
    assert wanted(cadence, [1, 3, 6, 8, 9]) == [1, 6, 9]


def test_it_wants_until_it_is_marked():
    cadence = Cadence(every_steps=3)
    assert [cadence.wants(1), cadence.wants(1)] == [True, True]
    cadence.mark(1)
    assert not cadence.wants(1)


def test_certain_steps_are_wanted_once_each_in_order():
    assert wanted(Cadence(at_steps=[7, 2, 7]), range(1, 10)) == [2, 7]


def test_certain_steps_that_are_passed_over_count_once_at_the_next():
    assert wanted(Cadence(at_steps=[2, 3, 7]), [1, 5, 6, 8, 9]) == [5, 8]


def test_certain_steps_before_the_start_are_done():
    cadence = Cadence(at_steps=[2, 5, 7])
    cadence.start(5)
    assert wanted(cadence, range(6, 10)) == [7]
    cadence.start(1)
    assert wanted(cadence, range(2, 10)) == [2, 5, 7]


def test_by_seconds_the_first_is_wanted_and_what_is_late_enough(clock):
    cadence = Cadence(every_secs=10)
    cadence.start(0)
    assert wanted(cadence, [1]) == [1]
    clock.now += 9.5
    assert not cadence.wants(500)
    clock.now += 0.5
    assert wanted(cadence, [501, 502]) == [501]


def test_by_seconds_without_the_first_the_clock_begins_with_the_session(clock):
    cadence = Cadence(every_secs=10, first=False)
    clock.now += 100
    cadence.start(0)
    assert not cadence.wants(1)
    assert cadence.next_time() == clock.now + 10
    clock.now += 10
    assert cadence.wants(1)


def test_of_seconds_and_steps_whichever_comes_first_and_both_begin_anew(clock):
    cadence = Cadence(every_steps=3, every_secs=10)
    cadence.start(0)
    assert wanted(cadence, range(1, 5)) == [1, 4]
    clock.now += 10
    assert wanted(cadence, range(5, 9)) == [5, 8]
    clock.now += 9
    assert wanted(cadence, [9, 10, 11]) == [11]
    clock.now += 9
    assert wanted(cadence, [12]) == []


def test_certain_steps_add_to_the_others():
    cadence = Cadence(every_steps=5, at_steps=[3])
    assert wanted(cadence, range(1, 15)) == [1, 3, 8, 13]
    assert wanted(Cadence(at_steps=[3], every_secs=1e9), range(1, 9)) == [1, 3]


def test_the_next_step_is_told_as_far_as_steps_tell():
    cadence = Cadence(every_steps=100, at_steps=[50])
    assert cadence.next_step() == 1
    cadence.mark(1)
    assert cadence.next_step() == 50
    cadence.mark(50)
    assert cadence.next_step() == 150
    assert cadence.next_time() == NEVER


def test_nothing_is_wanted_of_an_empty_one():
    cadence = Cadence()
    assert wanted(cadence, range(1, 100)) == []
    assert (cadence.next_step(), cadence.next_time()) == (NEVER, NEVER)
    assert not cadence


@pytest.mark.parametrize("given", [{"every_steps": 1}, {"every_secs": 1}, {"at_steps": [1]}])
def test_one_that_wants_something_is_true(given):
    assert Cadence(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"every_steps": 0}, "every_steps is 0; it must be positive"),
        ({"every_steps": -3}, "every_steps is -3; it must be positive"),
        ({"every_secs": 0}, "every_secs is 0; it must be positive"),
        ({"every_secs": -0.5}, "every_secs is -0.5; it must be positive"),
        ({"at_steps": [3, 0]}, "at_steps has 0; the first step is 1"),
    ],
)
def test_what_is_not_positive_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Cadence(**given)


@pytest.mark.parametrize(
    ("cadence", "text"),
    [
        (Cadence(), "no step"),
        (Cadence(every_steps=1), "every step"),
        (Cadence(every_steps=20, every_secs=1.5), "every 20 steps and every 1.5 s"),
        (Cadence(at_steps=[20, 3]), "steps 3, 20"),
    ],
)
def test_it_says_what_it_wants(cadence, text):
    assert str(cadence) == text


def test_of_two_cadences_each_goes_on_by_its_own_count(clock):
    cadence = Either(Cadence(every_steps=4, first=False), Cadence(every_steps=3, first=False))
    cadence.start(0)
    assert wanted(cadence, range(1, 13)) == [3, 4, 6, 8, 9, 12]
    cadence.start(10)
    assert wanted(cadence, range(11, 17)) == [13, 14, 16]


def test_of_two_cadences_the_sooner_is_told(clock):
    cadence = Either(Cadence(every_secs=10, first=False), Cadence(at_steps=[7]))
    cadence.start(2)
    assert (cadence.next_step(), cadence.next_time()) == (7, clock.now + 10)
    clock.now += 10
    assert wanted(cadence, [3, 4]) == [3]
    assert str(cadence) == "every 10 s and steps 7"
    assert cadence
    assert not Either(Cadence(), Cadence())
    assert str(Either(Cadence(), Cadence())) == "no step"
