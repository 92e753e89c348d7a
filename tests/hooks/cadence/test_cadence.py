import pytest

from recorded_steps import wanted
from tf_frame.hooks.cadence import NEVER, Cadence, Either, Multiples


@pytest.mark.parametrize(
    ("options", "start", "steps", "wanted_steps"),
    [
        ({"every_steps": 3}, 4, range(5, 15), [5, 8, 11, 14]),
        ({"every_steps": 3, "first": False}, 4, range(5, 15), [7, 10, 13]),
        ({"every_steps": 1}, 0, range(1, 5), [1, 2, 3, 4]),
        ({"every_steps": 3}, 0, [1, 3, 6, 8, 9], [1, 6, 9]),  # 4 is passed over.
        ({"at_steps": [7, 2, 7]}, 0, range(1, 10), [2, 7]),
        ({"at_steps": [2, 3, 7]}, 0, [1, 5, 6, 8, 9], [5, 8]),
        ({"at_steps": [2, 5, 7]}, 5, range(6, 10), [7]),
        ({"every_steps": 5, "at_steps": [3]}, 0, range(1, 15), [1, 3, 8, 13]),
        ({"every_secs": 1e9, "at_steps": [3]}, 0, range(1, 9), [1, 3]),
        ({}, 0, range(1, 100), []),
    ],
)
def test_steps_are_wanted_by_number(options, start, steps, wanted_steps):
    cadence = Cadence(**options)
    cadence.start(9)
    cadence.start(start)
    assert wanted(cadence, steps) == wanted_steps


def test_a_step_is_wanted_until_it_is_marked():
    cadence = Cadence(every_steps=3)
    assert [cadence.wants(1), cadence.wants(1)] == [True, True]
    cadence.mark(1)
    assert not cadence.wants(1)


def test_by_seconds_the_first_step_is_wanted_and_the_next_after_the_interval(clock):
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


def test_the_next_step_is_known_from_numbers():
    cadence, next_steps = Cadence(every_steps=100, at_steps=[50]), []
    for step in (0, 1, 50):
        if step:
            cadence.mark(step)
        next_steps.append(cadence.next_step())
    assert next_steps == [1, 50, 150]
    assert cadence.next_time() == NEVER
    empty = Cadence()
    assert (empty.next_step(), empty.next_time(), bool(empty)) == (NEVER, NEVER, False)


@pytest.mark.parametrize("options", [{"every_steps": 1}, {"every_secs": 1}, {"at_steps": [1]}])
def test_a_cadence_with_steps_is_true(options):
    assert Cadence(**options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cadence(every_steps=0), "every_steps is 0; it must be positive"),
        (lambda: Cadence(every_steps=-3), "every_steps is -3; it must be positive"),
        (lambda: Cadence(every_secs=0), "every_secs is 0; it must be positive"),
        (lambda: Cadence(every_secs=-0.5), "every_secs is -0.5; it must be positive"),
        (lambda: Cadence(at_steps=[3, 0]), "at_steps has 0; the first step is 1"),
        (lambda: Multiples(-1), "every_steps is -1"),
    ],
)
def test_a_number_that_is_not_positive_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("cadence", "text"),
    [
        (Cadence(), "no step"),
        (Cadence(every_steps=1), "every step"),
        (Cadence(every_steps=20, every_secs=1.5), "every 20 steps and every 1.5 s"),
        (Cadence(at_steps=[20, 3]), "steps 3, 20"),
        (
            Multiples(10, first=1, last_step=25),
            "step 1 of a session and multiples of 10 and step 25",
        ),
        (Multiples(None), "no step"),
        (Either(Cadence(every_secs=10), Cadence(at_steps=[7])), "every 10 s and steps 7"),
        (Either(Cadence(), Cadence()), "no step"),
    ],
)
def test_the_text_has_the_steps(cadence, text):
    assert str(cadence) == text


@pytest.mark.parametrize(
    ("make", "start", "wanted_steps"),
    [
        (lambda: Multiples(10), 0, [10, 20, 30]),
        (lambda: Multiples(10), 15, [20, 30]),
        (lambda: Multiples(10), 20, [30]),
        (lambda: Multiples(10, first=1), 20, [21, 30]),
        (lambda: Multiples(10, first=4), 7, [11, 20, 30]),
        (lambda: Multiples(10, last_step=25), 0, [10, 20, 25, 30]),
        (lambda: Multiples(None, last_step=25), 0, [25]),
        (lambda: Multiples(None, first=2), 0, [2]),
        (lambda: Multiples(None), 0, []),
    ],
)
def test_multiples_are_the_same_wherever_a_session_begins(make, start, wanted_steps):
    cadence = make()
    cadence.start(start)
    next_steps, steps = [], []
    for step in range(start + 1, 33):
        if cadence.wants(step):
            steps.append(step)
            next_steps.append(cadence.next_step())
            cadence.mark(step)
    assert steps == next_steps == wanted_steps
    assert isinstance(cadence, Cadence)
    if not wanted_steps:
        assert cadence.next_step() == NEVER


def test_a_multiple_that_is_passed_over_counts_once():
    cadence = Multiples(10)
    cadence.start(0)
    assert wanted(cadence, [9, 13]) == [13]
    assert cadence.next_step() == 20


def test_multiples_and_seconds_add_up(clock):
    cadence = Multiples(10, every_secs=5)
    cadence.start(0)
    assert not cadence.wants(3)
    clock.now += 5
    assert wanted(cadence, [3, 4]) == [3]
    assert cadence.next_step() == 10


def test_of_two_cadences_each_counts_separately(clock):
    cadence = Either(Cadence(every_steps=4, first=False), Cadence(every_steps=3, first=False))
    cadence.start(0)
    assert wanted(cadence, range(1, 13)) == [3, 4, 6, 8, 9, 12]
    cadence.start(10)
    assert wanted(cadence, range(11, 17)) == [13, 14, 16]
    cadence = Either(Cadence(every_secs=10, first=False), Cadence(at_steps=[7]))
    cadence.start(2)
    assert (cadence.next_step(), cadence.next_time()) == (7, clock.now + 10)
    clock.now += 10
    assert wanted(cadence, [3, 4]) == [3]
    assert cadence and not Either(Cadence(), Cadence())
