import pytest

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


@pytest.mark.parametrize(("signal_after", "last_step"), [(3, 3), (0, 0), (99, 4)])
def test_a_signal_stops_after_the_step_that_it_arrives_in(build, train, signal_after, last_step):
    steps = Steps()
    hook = StopOnSignalHook(lambda: 15 if len(steps.done) >= signal_after else None)
    train(build(), [steps, hook], to=4)
    assert steps.done == list(range(1, last_step + 1))
    assert not hook.cadence
