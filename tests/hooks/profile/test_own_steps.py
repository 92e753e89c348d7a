"""A profile of a number of steps of this task, and one that is asked for while another is made."""

import pytest

from tf_frame.hooks.profile import OwnSteps, ProfileHook
from tf_frame.profiling.recorder import Facts, Recorder
from tf_frame.profiling.step_times import StepTimes


def test_steps_of_other_workers_do_not_count():
    cadence, profiled = OwnSteps(10, 3), []
    cadence.start(4)
    for step in (5, 9, 12, 40, 90, 91, 92):
        if cadence.wants(step):
            profiled.append((step, cadence.ends_at(step)))
            cadence.mark(step)
    assert profiled == [(12, False), (40, False), (90, True)]
    assert cadence.next_step() == float("inf")


@pytest.fixture
def hooks(tmp_path):
    times = StepTimes()

    def hook(label):
        recorder = Recorder(times, Facts("worker_0"))
        more = {"recorder": recorder, "label": label, "began": lambda: 0}
        return ProfileHook(str(tmp_path), num_steps=2, at_steps=[1], own_steps=True, **more)

    return times, hook("first"), hook("second")


def test_a_second_profile_at_a_time_leaves_the_first_alone(hooks, caplog):
    times, first, second = hooks
    first._begin(1)
    second._begin(1)
    assert times.on_step == first._after_hooks
    second.close()
    assert times.on_step == first._after_hooks
    assert "another profile of this training records its steps" in caplog.text
    assert "the capture first of this process has been active since" in caplog.text
    first.close()
    assert times.on_step is None
