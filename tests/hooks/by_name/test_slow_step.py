import logging
import threading
from types import SimpleNamespace

import pytest

from tf_frame.hooks.by_name.slow_step import SlowStepHook, stacks
from tf_frame.hooks.evaluate import EvaluateHook


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.WARNING, logger="tf_frame")
    return caplog


@pytest.fixture
def make(tmp_path):
    """Makes a hook that is looked at by hand: its thread would only look after an hour."""
    made = []

    def make(**more):
        hook = SlowStepHook(str(tmp_path), **{"floor_secs": 1.0, **more})
        hook.floor_secs = 4 * 3600.0
        hook.start(None, 0)
        hook.floor_secs = more.get("floor_secs", 1.0)
        hook.should_stop()
        made.append(hook)
        return hook

    yield make
    for hook in made:
        hook.close()


def steps(hook, clock, durations):
    """Lets steps pass; the thread looks once in the last moment of each."""
    for secs in durations:
        clock.now += secs
        hook.look()
        hook.should_stop()


@pytest.mark.parametrize(
    ("options", "durations", "slow_steps"),
    [
        ({"times": 5}, [1] * 10 + [5, 5.5, 1], [12]),
        # Until half of the last hundred steps have taken 10 s.
        ({"times": 5, "pause_secs": 0}, [1] * 60 + [10] * 60, list(range(61, 111))),
        ({"floor_secs": 3.0}, [0.01] * 20 + [3, 3.5], [22]),
        ({}, [500] + [1] * 8 + [100], []),  # Among the first ten.
        ({}, [500] + [1] * 8 + [100, 100], [11]),
        ({"pause_secs": 60}, [1] * 10 + [30, 30, 30, 29, 31], [11, 13, 15]),
    ],
)
def test_steps_far_above_the_median_are_slow(make, clock, options, durations, slow_steps):
    hook = make(**options)
    steps(hook, clock, durations)
    assert hook.slow_steps == slow_steps
    assert hook.should_stop() is False


def test_a_slow_step_is_told_once(make, clock, logged):
    hook = make(pause_secs=0)
    steps(hook, clock, [1] * 10)
    for _ in range(4):
        clock.now += 20
        hook.look()
    assert hook.slow_steps == [11]
    assert len(logged.messages) == 1


def test_what_is_told_names_the_step_the_times_and_the_stacks(tmp_path, make, clock, logged):
    hook = make()
    steps(hook, clock, [2] * 10)
    # The thread that looks is another than the one that trains.
    clock.now += 25
    thread = threading.Thread(target=hook.look)
    thread.start()
    thread.join()
    (line,) = logged.messages
    first, second, *_ = line.splitlines()
    assert first == ("step 11 has taken 25 s by now; the median is 2 s. The stacks of all threads:")
    assert second.startswith("thread ")
    assert "thread MainThread:" in line
    assert "in test_what_is_told_names_the_step" in line
    assert "in look" not in line
    written = (tmp_path / "slow_steps.log").read_text()
    assert line in written
    hook.should_stop()
    hook._reported_at = -float("inf")
    clock.now += 25
    hook.look()
    assert (tmp_path / "slow_steps.log").read_text().startswith(written)
    assert (tmp_path / "slow_steps.log").read_text().count(" has taken 25 s") == 2


def test_the_stacks_are_those_of_the_other_threads():
    begun, done = threading.Event(), threading.Event()

    def waits_here():
        begun.set()
        done.wait()

    thread = threading.Thread(target=waits_here, name="waiting")
    thread.start()
    begun.wait()
    text = stacks()
    done.set()
    thread.join()
    assert "thread waiting:" in text
    assert "in waits_here" in text
    assert "test_the_stacks_are_those" not in text


def test_after_a_slow_step_somebody_is_told_in_the_thread_that_trains(make, clock):
    told = []
    hook = make(on_slow=lambda step: told.append((step, threading.current_thread())))
    steps(hook, clock, [1] * 10)
    clock.now += 20
    hook.look()
    assert told == []
    hook.should_stop()
    hook.should_stop()
    assert told == [(11, threading.main_thread())]


def test_after_a_slow_step_some_steps_are_to_be_profiled(make, clock):
    asked = []
    for hook in (make(profile_steps=3), make()):
        hook.join_run(SimpleNamespace(report=print, request_profile=lambda *a: asked.append(a)))
        steps(hook, clock, [1] * 10 + [20, 20, 1])
    # The second one comes within `pause_secs`.
    assert asked == [("slow_step_11", 3)]


def test_an_evaluation_is_no_step(make, clock):
    hook, looked = make(), []

    def evaluate(step):
        clock.now += 1000
        hook.look()
        looked.append(step)
        return {}

    steps(hook, clock, [1] * 12)
    EvaluateHook(evaluate, every_steps=1, last_step=99).after_step(None, None, 13)
    steps(hook, clock, [2, 20])
    assert looked == [13]
    assert hook.slow_steps == [14]
    assert list(hook._durations) == pytest.approx([1] * 12 + [2, 20])


def test_being_asked_twice_between_two_steps_counts_one(make, clock):
    hook = make()
    for _ in range(10):
        hook.should_stop()
        steps(hook, clock, [1])
    hook.should_stop()
    assert list(hook._durations) == pytest.approx([1] * 10)
    steps(hook, clock, [20])
    assert hook.slow_steps == [11]


def test_the_count_of_steps_is_put_right_at_its_cadence(make, clock):
    hook = make(every_steps=10)
    # Several steps in a call: ten calls, and then the hook hears that this was step 200.
    steps(hook, clock, [1] * 10)
    clock.now += 1
    hook.after_step(None, None, 200)
    hook.should_stop()
    steps(hook, clock, [20])
    assert hook.slow_steps == [201]


def test_the_number_of_a_slow_step_is_that_of_training(tmp_path, build, train, clock):
    """In a run; the clock stands still in all steps but one."""
    hook = SlowStepHook(str(tmp_path), every_steps=5)
    clock.step = 0

    def each(session):
        clock.step += 1
        clock.now += 100 if clock.step == 13 else 1
        hook.look()

    train(build(), [hook], to=16, each=each)
    # What happens after step 13 belongs to the time of the next one.
    assert hook.slow_steps == [14]


def test_a_thread_looks_while_training_and_ends_with_it(tmp_path, build, train):
    looked, threads = threading.Event(), []

    class Looks(SlowStepHook):
        def look(self):
            threads.append(threading.current_thread())
            looked.set()

    hook = Looks(str(tmp_path), floor_secs=0.01)
    train(build(), [hook], to=2, each=lambda session: looked.wait(60))
    assert threads[0].name == "tf-frame-slow-step"
    assert not threads[0].is_alive()
    hook.close()


def test_the_thread_of_a_hook_that_is_gone_ends(tmp_path):
    hook = SlowStepHook(str(tmp_path), floor_secs=0.01)
    hook.start(None, 0)
    thread = hook._thread
    del hook
    thread.join(60)
    assert not thread.is_alive()


def test_a_session_that_is_made_anew_has_one_thread_and_no_old_steps(make, clock):
    hook = make()
    first = hook._thread
    steps(hook, clock, [1] * 20)
    hook.start(None, 5)
    assert not first.is_alive()
    hook.should_stop()
    steps(hook, clock, [100])
    assert hook.slow_steps == []


def test_each_worker_has_a_file_of_its_own(tmp_path, make, clock):
    hook = make(task=3)
    steps(hook, clock, [1] * 10 + [20])
    assert [path.name for path in tmp_path.iterdir()] == ["slow_steps_3.log"]


@pytest.mark.parametrize(
    "wrong", [{"times": 1}, {"floor_secs": 0}, {"pause_secs": -1}, {"every_steps": 0}]
)
def test_numbers_that_cannot_be_are_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match="must be"):
        SlowStepHook(str(tmp_path), **wrong)
