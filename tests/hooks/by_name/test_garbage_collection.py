import gc

import pytest

from tf_frame.hooks.by_name.garbage_collection import GarbageCollectionHook
from tf_frame.hooks.training_clock import training_clock


def test_freezing_is_a_pause_and_later_collections_are_not(monkeypatch, clock):
    def collect():
        clock.now += 3

    monkeypatch.setattr("tf_frame.hooks.by_name.garbage_collection.gc.collect", collect)
    hook, start = GarbageCollectionHook(), training_clock()
    hook.after_step(None, None, 10)
    assert training_clock() == pytest.approx(start)
    hook.after_step(None, None, 1000)
    assert training_clock() == pytest.approx(start + 3)
    hook.close()


@pytest.fixture(autouse=True)
def collected(monkeypatch):
    """Counts the collections that are asked for; the collector is as it was after the test."""
    calls = []
    gc.enable()
    target = "tf_frame.hooks.by_name.garbage_collection.gc.collect"
    monkeypatch.setattr(target, lambda: calls.append(1))
    yield calls
    monkeypatch.undo()
    gc.enable()
    gc.unfreeze()


def test_the_collector_is_off_from_the_first_steps_to_the_end(build, train):
    enabled, frozen = [], []

    def each(session):
        enabled.append(gc.isenabled())
        frozen.append(gc.get_freeze_count() > 0)

    train(build(), [GarbageCollectionHook(every_steps=100, freeze_after_steps=3)], to=5, each=each)
    assert enabled == [True, True, False, False, False]
    assert frozen == [False, False, True, True, True]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_it_collects_after_the_first_steps_and_at_multiples(build, train, collected):
    counts = []
    train(
        build(),
        [GarbageCollectionHook(every_steps=4, freeze_after_steps=2)],
        to=9,
        each=lambda session: counts.append(len(collected)),
    )
    assert counts == [0, 1, 1, 2, 2, 2, 2, 3, 3]


def test_a_resumed_session_freezes_after_its_own_first_steps(build, train):
    enabled = []
    for to in (3, 7):
        hook = GarbageCollectionHook(every_steps=100, freeze_after_steps=2)
        each = lambda session: enabled.append(gc.isenabled())  # noqa: E731
        train(build(), [hook], to=to, each=each, save_every=100)
    assert enabled == [True, False, False, True, False, False, False]


def test_a_collector_that_was_off_stays_off(build, train):
    gc.disable()
    train(build(), [GarbageCollectionHook(freeze_after_steps=1)], to=2)
    assert not gc.isenabled()


def test_after_an_error_closing_restores_the_collector():
    hook = GarbageCollectionHook(freeze_after_steps=1)
    hook.after_step(None, None, 1)
    assert not gc.isenabled()
    hook.close()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.disable()
    hook.close()
    assert not gc.isenabled()


def test_a_hook_that_nobody_closes_restores_the_collector_when_it_goes():
    hook = GarbageCollectionHook(freeze_after_steps=1)
    hook.after_step(None, None, 1)
    assert not gc.isenabled()
    del hook
    assert gc.isenabled()


def test_a_stop_before_it_began_changes_nothing(build, train, collected):
    train(build(), [GarbageCollectionHook(freeze_after_steps=5)], to=2)
    assert gc.isenabled()
    assert collected == []


@pytest.mark.parametrize("wrong", [{"every_steps": 0}, {"freeze_after_steps": 0}])
def test_numbers_of_steps_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match="they must be positive"):
        GarbageCollectionHook(**wrong)
