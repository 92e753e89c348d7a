"""Profiles that a run is asked for by a hook; by a signal: tests/cli/profile and tests/cluster."""

import dataclasses
import time

import pytest

from tf_frame.hooks.base import Hook
from tf_frame.hooks.by_name.slow_step import SlowStepHook
from tf_frame.hooks.cadence import Cadence
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


def train(model, folder, **options):
    """Trains 30 steps; returns how long after step 15, the slow one, its profile begins."""
    lines = []
    setup = make_setup(model, ToyInput, str(folder), max_steps=30, evaluate=False, **options)
    run_setup(setup, report=lines.append)
    assert "profiling 3 steps, as --hook slow_step asks" in lines
    (path,) = folder.glob("plugins/profile/*_slow_step_*/*_worker_0.steps.json.gz")
    profile = read(str(path))
    assert profile.clock_offset == 0 and profile.peer_clock_offsets == {}
    slow = int(path.parent.name.rpartition("_")[2])
    numbers = [step.number for step in profile.steps]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    return numbers[0] - slow


def test_a_slow_step_triggers_a_profile_of_the_next_ones(tmp_path, model):
    # One step ends before the request is seen, the next one is only prepared with.
    assert 1 < train(model, tmp_path) <= 3


@pytest.mark.slow
def test_a_request_waits_until_another_profile_is_made(tmp_path, model):
    after = train(model, tmp_path, profile_at_step=14, profile_num_steps=6)
    assert 20 - 15 < after <= 20 - 15 + 2
