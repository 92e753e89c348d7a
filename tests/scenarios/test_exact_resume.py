"""Runs that are killed again and again end with the bytes of an uninterrupted run."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import forked
from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.checkpoint.find.reader import Checkpoint

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

EVERY = 3
COMMON = {
    "save_checkpoint_steps": EVERY,
    "save_checkpoint_secs": None,
    "save_summaries_steps": 0,
    "log_every_n_steps": 0,
    "max_to_keep": 100,
}
# For each run: options, number of kills in the middle of a step and of a save.
RUNS = {
    "mlp": ({"max_steps": 32}, 6, 5),
    "accumulated": ({"max_steps": 20, "num_clones": 2, "moving_average_decay": 0.9}, 1, 1),
    "mlp, asynchronous": ({"max_steps": 20, "async_checkpoint": True}, 1, 2),
    "mlp, steps in a loop": ({"max_steps": 20, "steps_per_loop": 2}, 2, 2),
    "deeplab": ({"max_steps": 7, "train_batch_size": 2}, 1, 0),
}


@pytest.fixture(scope="module")
def start():
    """Runs a training in a process that is forked for it; returns its exit status."""
    program = Path(__file__).with_name("killed_runs.py")
    support = str(Path(forked.__file__).parent)
    server = forked.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": support},
    )

    def start(name, folder, kill=None):
        folder.mkdir(exist_ok=True)
        options = {**COMMON, **RUNS[name][0]}
        kind = name.split(",")[0]
        words = {"model_dir": str(folder), "kind": kind, "options": options, "kill": kill}
        print(json.dumps(words), file=server.stdin, flush=True)
        return int(server.stdout.readline())

    yield start
    server.stdin.close()
    server.wait()


def make_kills(name):
    """Returns the times of the kills in the order of steps, the same in every run of the tests."""
    options, in_steps, in_saves = RUNS[name]
    chance, last = random.Random(name), options["max_steps"]
    steps = chance.sample(range(1, last), in_steps)
    saves = chance.sample(range(EVERY, last, EVERY), in_saves)
    kills = [("step", step, round(chance.uniform(0, 0.003), 4)) for step in steps]
    kills += [("save", step, round(chance.choice([0, 0.0005, 0.002]), 4)) for step in saves]
    return sorted(kills, key=lambda kill: (kill[1], kill[0]))


def variables(path):
    checkpoint = Checkpoint(path)
    names = [name for name in checkpoint.names if not name.startswith("input_position/")]
    assert len(names) < len(checkpoint.names)
    return {name: checkpoint.read(name) for name in names}


def assert_same_bytes(path, expected):
    values, expected_values = variables(path), variables(expected)
    assert values.keys() == expected_values.keys()
    different = [n for n in values if values[n].tobytes() != expected_values[n].tobytes()]
    assert not different, f"{path} differs from {expected} in {different}"


def output(folder):
    return (folder / "output.txt").read_text(errors="replace")[-3000:]


# `tests/hooks/checkpoint/test_failures.py` kills runs that save asynchronously.
BY_DEFAULT = {"accumulated"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in BY_DEFAULT else pytest.mark.slow) for n in RUNS],
)
def test_a_run_that_was_killed_ends_like_one_that_was_not(name, start, tmp_path):
    unharmed, killed = tmp_path / "unharmed", tmp_path / "killed"
    assert start(name, unharmed) == 0, output(unharmed)
    for kill in make_kills(name):
        status = start(name, killed, kill)
        saved = read_step(newest_checkpoint(str(killed)))
        print(f"{name}: killed in {kill[0]} {kill[1]} after {kill[2]} s; saved is step {saved}")
        assert status == signal.SIGKILL, output(killed)
        # An asynchronous save may still be under way when the next step begins.
        lost = 2 * EVERY if "asynchronous" in name else EVERY
        assert kill[1] - lost <= saved <= kill[1]
    assert start(name, killed) == 0, output(killed)
    last = RUNS[name][0]["max_steps"]
    assert read_step(newest_checkpoint(str(killed))) == last
    for path in sorted(unharmed.glob("model.ckpt-*.index")):
        assert_same_bytes(str(killed / path.stem), str(path.with_suffix("")))
    assert_training_is_not_trivial(unharmed, last)


def assert_training_is_not_trivial(folder, last):
    first, end = (variables(str(folder / f"model.ckpt-{step}")) for step in (0, last))
    moved = [n for n in first if not np.array_equal(first[n], end[n])]
    assert len(moved) > 5


def test_the_kills_are_many():
    assert sum(len(make_kills(name)) for name in RUNS) >= 20
