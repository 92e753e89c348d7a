"""Sweeps that are killed, stopped or run twice at the same time."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .conftest import RUN, SPACE

pytestmark = pytest.mark.process
PROGRAM = [sys.executable, str(Path(__file__).with_name("sweep_program.py"))]
REAL = [sys.executable, "-m", "tf_frame", "sweep"]


@pytest.fixture
def start(tmp_path):
    """Starts a sweep as a process of its own, in a group of its own."""
    processes = []

    def start(*words, program=PROGRAM, run=RUN, runs=None):
        process = subprocess.Popen(
            [*program, *SPACE, "--sweep_dir", "s", *words, *run],
            cwd=tmp_path,
            env={**os.environ, "FAKE_RUNS": json.dumps(runs or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(condition, secs=60):
    end = time.monotonic() + secs
    while not condition():
        assert time.monotonic() < end, "the condition has not come true"
        time.sleep(0.02)


def test_a_killed_sweep_goes_on_with_its_running_trials(start, trials, tmp_path):
    runs = {"0": "slow", "1": "slow"}
    sweep = start("--trials", "4", "--parallel", "2", runs=runs)
    table = tmp_path / "s" / "trial-0001" / "metrics.csv"
    wait_for(lambda: table.exists() and "60" in table.read_text())
    sweep.kill()
    sweep.communicate()
    out, _ = start("--trials", "4", "--parallel", "2").communicate(timeout=100)
    assert "trial 0 goes on" in out and "trial 1 goes on" in out
    assert [trial.number for trial in trials()] == [0, 1, 2, 3]
    assert all(trial.state.name == "COMPLETE" for trial in trials())
    assert len({trial.params["learning_rate"] for trial in trials()}) == 4


def test_sigterm_stops_the_runs_and_the_same_command_goes_on(start, trials, tmp_path):
    sweep = start("--trials", "2", runs={"0": "slow"})
    wait_for((tmp_path / "s" / "trial-0000" / "metrics.csv").exists)
    sweep.send_signal(signal.SIGTERM)
    out, _ = sweep.communicate(timeout=60)
    assert sweep.returncode == 128 + signal.SIGTERM
    assert "the same command goes on" in out and "0 of 2 trials have ended" in out
    assert trials()[0].state.name == "RUNNING"
    start("--trials", "2").communicate(timeout=60)
    assert [trial.state.name for trial in trials()] == ["COMPLETE", "COMPLETE"]


def test_two_processes_share_one_sweep(start, trials):
    sweeps = [start("--trials", "8") for _ in range(2)]
    assert [sweep.communicate(timeout=100) and sweep.returncode for sweep in sweeps] == [0, 0]
    assert [trial.number for trial in trials()] == list(range(8))
    assert all(trial.state.name == "COMPLETE" for trial in trials())
    assert len({trial.user_attrs["owner"]["pid"] for trial in trials()}) == 2


def _run_processes():
    """Returns the numbers of the processes that train in the folder of the sweep."""
    words = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    lines = [line.split(None, 1) for line in words.splitlines()[1:]]
    return [int(pid) for pid, args in lines if "--model_dir=s/trial-" in args]


@pytest.mark.slow
def test_kills_of_sweep_and_trials_lose_nothing(start, trials, tmp_path):
    """Twelve trials of a classifier, with three kills of the sweep and three of a trial."""
    random.seed(1)
    words = ("--trials", "12", "--parallel", "2")
    run = (*RUN[:-3], "40", "--eval_every_n_steps", "20", "--save_checkpoint_steps", "10")
    for _ in range(3):
        sweep = start(*words, program=REAL, run=run)
        time.sleep(random.uniform(6, 12))
        if pids := _run_processes():
            os.kill(random.choice(pids), signal.SIGKILL)
        time.sleep(random.uniform(1, 6))
        sweep.kill()
        sweep.communicate()
    out, _ = start(*words, program=REAL, run=run).communicate(timeout=400)
    done = trials()
    assert [trial.number for trial in done] == list(range(12)), out
    assert all(trial.state.name == "COMPLETE" for trial in done), out
    assert len({trial.params["learning_rate"] for trial in done}) == 12
    best = max(done, key=lambda trial: trial.value)
    plain = [sys.executable, "-m", "tf_frame", "run", "--config", "s/best.yaml"]
    subprocess.run([*plain, "--model_dir", "plain"], cwd=tmp_path, check=True, capture_output=True)
    _assert_equal(tmp_path / "plain", tmp_path / "s" / f"trial-{best.number:04}")


def _assert_equal(one, other):
    import tensorflow as tf

    readers = [tf.train.load_checkpoint(str(folder / "model.ckpt-40")) for folder in (one, other)]
    names = [set(reader.get_variable_to_shape_map()) for reader in readers]
    assert names[0] == names[1]
    for name in names[0]:
        values = [reader.get_tensor(name) for reader in readers]
        np.testing.assert_array_equal(*values, err_msg=name)
