from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.stop_on_signal import StopOnSignalHook


class Steps(Hook):
    """Notes the steps."""

    def __init__(self):
        super().__init__(Cadence(every_steps=1))
        self.done = []

    def after_step(self, run_context, run_values, step):
        self.done.append(step)


def test_a_signal_stops_after_the_step_that_it_arrives_in(build, train):
    steps = Steps()
    train(build(), [steps, StopOnSignalHook(lambda: 15 if len(steps.done) == 3 else None)], to=9)
    assert steps.done == [1, 2, 3]


def test_a_signal_before_the_first_step_lets_none_run(build, train):
    steps = []
    train(build(), [StopOnSignalHook(lambda: 15)], to=9, each=lambda _: steps.append(1))
    assert not steps


def test_without_a_signal_training_goes_on(build, train):
    steps = []
    train(build(), [StopOnSignalHook(lambda: None)], to=4, each=lambda _: steps.append(1))
    assert len(steps) == 4


def test_no_step_is_wanted_for_it():
    hook = StopOnSignalHook(lambda: None)
    assert not hook.cadence
    assert hook.should_stop() is False
