"""Trials in processes of their own: turns, losses, stops and ends."""

import os
import re

import pytest

from tf_frame.experiments.trial import Trial, TrialError
from tf_frame.experiments.variant import Variant

pytestmark = pytest.mark.process
WORDS = ["--plugin", "toy", "--log_every_n_steps", "1000"]


def state(pid):
    """The state of a process: `T` is stopped."""
    with open(f"/proc/{pid}/stat") as file:
        return re.search(r"\) (\w) ", file.read())[1]


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read().split(b"\0")


@pytest.fixture(autouse=True)
def installed(toy_environment, monkeypatch):
    """The plugin toy, for the processes of the trials."""
    monkeypatch.setenv("PYTHONPATH", toy_environment["PYTHONPATH"])


def test_trials_take_turns_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    variant = Variant({"steps_per_loop": "4"}, {"MALLOC_ARENA_MAX": "1"})
    with Trial(WORDS) as one, Trial(variant.words(WORDS)) as two:
        pids = [trial._process.pid for trial in (one, two)]
        for trial in (one, two):
            trial.wait_until_ready()
        assert (one.examples_per_step, two.examples_per_step) == (32, 32)
        turns = {trial: [trial.train(steps) for steps in (1, 1, 9)] for trial in (one, two)}
        assert [turn.step for turn in turns[one]] == [1, 2, 11]
        assert all(turn.secs > 0 for turn in turns[one])
        assert one.losses == two.losses and len(set(one.losses.values())) == 3
        # The second process has started itself again with the variable.
        assert [b"MALLOC_ARENA_MAX=1" in environment(pid) for pid in pids] == [False, True]
        assert [state(pid) for pid in pids] == ["T", "T"]
    assert not list(tmp_path.iterdir())
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_an_error_of_the_training_is_the_trials():
    words = [*WORDS, "--intra_op_threads=-3"]
    with Trial(words) as trial, pytest.raises(TrialError) as raised:
        trial.wait_until_ready()
    assert str(raised.value) == (
        "--intra_op_threads: -3 is out of range; allowed: 0 to 1024 (exit code 2)"
    )


def test_a_training_that_ends_in_its_turn_is_an_error():
    with Trial(WORDS) as trial:
        trial.wait_until_ready()
        trial._process.kill()
        with pytest.raises(TrialError, match=r"\(exit code -9\)"):
            trial.train(1)
