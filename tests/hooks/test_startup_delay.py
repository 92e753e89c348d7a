import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Phase
from tf_frame.hooks.startup_delay import StartupDelayHook


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    return caplog


class Others:
    """Stands in for `time.sleep`: others train meanwhile, and the clock goes on."""

    def __init__(self, clock, steps):
        self.clock, self.steps, self.slept = clock, steps, []
        with tf.Graph().as_default() as self.graph:
            self.step = tf.train.create_global_step()
            self.more = tf.assign_add(self.step, steps)
            self.init = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.init)

    def sleep(self, secs):
        self.slept.append(secs)
        self.clock.now += secs
        self.session.run(self.more)

    def now(self):
        return int(self.session.run(self.step))


@pytest.fixture
def others(clock):
    made = []

    def others(steps):
        made.append(Others(clock, steps))
        return made[-1]

    yield others
    for one in made:
        one.session.close()


@pytest.mark.usefixtures("variable_mode")
def test_it_waits_until_others_have_come_to_a_step(others):
    rest = others(4)
    StartupDelayHook(until_step=10, sleep=rest.sleep).start(rest.session, 0)
    assert rest.slept == [0.5] * 3
    assert rest.now() == 12


def test_it_waits_some_seconds(others):
    rest = others(1)
    StartupDelayHook(secs=1.2, sleep=rest.sleep).start(rest.session, 0)
    assert rest.slept == pytest.approx([0.5, 0.5, 0.2])


def test_it_waits_for_both_a_step_and_seconds(others):
    rest = others(1)
    StartupDelayHook(until_step=2, secs=1.75, sleep=rest.sleep).start(rest.session, 0)
    assert rest.slept == pytest.approx([0.5, 0.5, 0.5, 0.25])
    rest = others(1)
    StartupDelayHook(until_step=4, secs=0.75, sleep=rest.sleep).start(rest.session, 0)
    assert rest.slept == [0.5] * 4


def test_a_step_that_has_been_reached_is_not_waited_for(others):
    rest = others(1)
    StartupDelayHook(until_step=5, sleep=rest.sleep).start(rest.session, 5)
    assert rest.slept == []


def test_without_anything_to_wait_for_it_says_nothing(others, logged):
    rest = others(1)
    StartupDelayHook(sleep=rest.sleep).start(rest.session, 0)
    assert (rest.slept, logged.messages) == ([], [])


def test_a_session_that_is_made_anew_does_not_wait_again(others):
    rest = others(4)
    hook = StartupDelayHook(until_step=4, secs=1.0, sleep=rest.sleep)
    hook.start(rest.session, 0)
    rest.slept.clear()
    hook.start(rest.session, 0)
    assert rest.slept == []


def test_a_session_that_is_lost_while_waiting_waits_again(others):
    rest = others(4)

    def lost(secs):
        raise tf.errors.AbortedError(None, None, "lost")

    hook = StartupDelayHook(until_step=4, sleep=lost)
    with pytest.raises(tf.errors.AbortedError):
        hook.start(rest.session, 0)
    hook._sleep = rest.sleep
    hook.start(rest.session, 0)
    assert rest.slept == [0.5]


def test_a_request_to_stop_ends_the_wait(others):
    rest = others(0)
    StartupDelayHook(until_step=10, sleep=rest.sleep, stop=lambda: len(rest.slept) == 3).start(
        rest.session, 0
    )
    assert len(rest.slept) == 3


def test_the_wait_is_told_of_every_thousand_steps(others, logged):
    rest = others(600)
    StartupDelayHook(until_step=3000, sleep=rest.sleep).start(rest.session, 0)
    assert logged.messages == [
        "waiting for global step 3000 and 0 s to pass",
        "waiting for global step 3000; it is 1200",
        "waiting for global step 3000; it is 2400",
        "waited until global step 3000",
    ]


def test_it_comes_before_all_other_hooks_and_wants_no_step(build, train):
    hook = StartupDelayHook(secs=0.1, sleep=lambda secs: None)
    assert hook.phase == Phase.TRANSFORM
    assert not any(hook.cadence.wants(step) for step in range(1, 50))


def test_training_goes_on_after_the_wait(build, train, clock):
    def sleep(secs):
        clock.now += secs

    steps = []
    train(build(), [StartupDelayHook(secs=2.0, sleep=sleep)], to=3, each=lambda s: steps.append(s))
    assert (len(steps), clock.now) == (3, 1002.0)


@pytest.mark.parametrize("wrong", [{"until_step": -1}, {"secs": -0.5}])
def test_negative_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="neither may be negative"):
        StartupDelayHook(**wrong)
