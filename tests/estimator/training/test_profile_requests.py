"""Profiles that a run is asked for by a hook; by a signal: tests/cli/profile and tests/cluster."""

import dataclasses
import time

import pytest

from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.slow_step import SlowStepHook
from tf_frame.profiling.step_profile import read
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


class Sleeping(Hook):
    def after_step(self, run_context, run_values, step):
        time.sleep(0.5)


@pytest.fixture
def model(tmp_path):
    class Slow(ToyModel):
        def build(self, *arguments, **more):
            output = super().build(*arguments, **more)
            hooks = [
                Sleeping(Cadence(at_steps=[15])),
                SlowStepHook(str(tmp_path), floor_secs=0.25, profile_steps=3),
            ]
            return dataclasses.replace(output, hooks=hooks)

    return Slow


def test_a_slow_step_triggers_a_profile_of_the_next_ones(tmp_path, model):
    lines = []
    setup = make_setup(model, ToyInput, str(tmp_path), max_steps=30, evaluate=False)
    run_setup(setup, report=lines.append)
    assert "profiling 3 steps, as --hook slow_step asks" in lines
    (path,) = tmp_path.glob("plugins/profile/*_slow_step_*/*_worker_0.steps.json.gz")
    profile = read(str(path))
    slow = int(path.parent.name.rpartition("_")[2])
    numbers = [step.number for step in profile.steps]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    # One step ends before the request is seen, the next one is only prepared with.
    assert slow + 1 < numbers[0] <= slow + 3
    assert profile.clock_offset == 0 and profile.peer_clock_offsets == {}
