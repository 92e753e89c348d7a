import pytest

from recorded_steps import Steps
from tf_frame.hooks.stop_on_signal import StopOnSignalHook


@pytest.mark.parametrize(("signal_after", "last_step"), [(3, 3), (0, 0), (99, 4)])
def test_a_signal_stops_after_the_step_that_it_arrives_in(build, train, signal_after, last_step):
    steps = Steps()
    hook = StopOnSignalHook(lambda: 15 if len(steps.seen) >= signal_after else None)
    train(build(), [steps, hook], to=4)
    assert steps.seen == list(range(1, last_step + 1))
    assert not hook.cadence
