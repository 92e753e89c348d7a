import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.stock.global_step_waiter import GlobalStepWaiterHook


class Others:
    """Stands in for `time.sleep`: meanwhile other workers move the global step."""

    def __init__(self, steps):
        self.steps, self.slept = iter(steps), []

    def __call__(self, seconds):
        self.slept.append(seconds)
        self.session.run(self.assign, {self.value: next(self.steps)})


class Meet(Hook):
    """Shows the session to the others."""

    phase = Phase.TRANSFORM

    def __init__(self, others):
        super().__init__(Cadence(every_steps=1))
        self.others, self.steps = others, []

    def begin(self):
        step = tf.train.get_global_step()
        self.others.value = tf.placeholder(step.dtype.base_dtype, [])
        self.others.assign = step.assign(self.others.value).op

    def start(self, session, step):
        super().start(session, step)
        self.others.session = session

    def after_step(self, run_context, run_values, step):
        self.steps.append(step)


@pytest.fixture
def wait(build, train, monkeypatch):
    """Trains with a hook that waits; returns the steps run, and the times slept."""

    def wait(hook, *, moves=(), to=9, more=()):
        others = Others(moves)
        monkeypatch.setattr("time.sleep", others)
        meet = Meet(others)
        train(build(), [meet, hook, *more], to=to)
        return meet.steps, others.slept

    return wait


@pytest.mark.usefixtures("variable_mode")
def test_the_first_step_waits_until_others_have_moved_the_global_step(wait):
    hook = GlobalStepWaiterHook(5)
    steps, slept = wait(hook, moves=[2, 4, 5])
    assert steps == [6, 7, 8, 9]
    assert slept == [0.5] * 3
    assert not hook.cadence


@pytest.mark.parametrize("step", [0, -1])
def test_nothing_is_waited_for_where_none_is_to_be(wait, step):
    assert wait(GlobalStepWaiterHook(step), to=2) == ([1, 2], [])


def test_a_session_that_is_made_anew_does_not_wait_again(wait):
    steps, slept = wait(GlobalStepWaiterHook(3), moves=[3], to=2 + 3, more=[Lose(after=2)])
    assert len(slept) == 1
    assert steps == [4, 5, 1, 2, 3, 4, 5]


def test_a_session_that_is_lost_while_waiting_waits_again(build, train, monkeypatch):
    def lose(seconds):
        others.slept.append(seconds)
        if len(others.slept) == 1:
            raise tf.errors.AbortedError(None, None, "lost")
        others.session.run(others.assign, {others.value: 3})

    others = Others([])
    monkeypatch.setattr("time.sleep", lose)
    meet = Meet(others)
    train(build(), [meet, GlobalStepWaiterHook(3)], to=5)
    assert others.slept == [0.5] * 2
    assert meet.steps == [4, 5]


def test_a_wait_that_is_given_up_runs_no_step(wait):
    answers = iter([None, None, 15])
    hook = GlobalStepWaiterHook(100, give_up=lambda: next(answers))
    steps, slept = wait(hook, moves=[1, 2])
    assert len(slept) == 2
    assert steps == []


def test_the_wait_is_logged_where_the_caller_says_every_thousand_steps(wait):
    lines = []
    hook = GlobalStepWaiterHook(3000, log=lambda line, *args: lines.append(line % args))
    wait(hook, moves=[600, 1200, 1800, 2400, 3000], to=3001)
    first = "Waiting for global step 3000 before starting training."
    assert lines == [first, f"{first} Current step is 1200.", f"{first} Current step is 2400."]
