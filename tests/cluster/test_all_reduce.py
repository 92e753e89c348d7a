"""Two processes without parameter servers average their gradients."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import forked
from tf_frame.testing.ports import free_ports

TASK = str(Path(__file__).with_name("all_reduce_task.py"))
LIMIT_SECS = 60

pytestmark = pytest.mark.process


def workers(steps):
    ports = list(map(str, free_ports(2)))
    return [
        forked.Popen(
            [sys.executable, TASK, str(task), *ports, str(steps)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for task in (0, 1)
    ]


def read_lines(process):
    said = process.communicate(timeout=LIMIT_SECS)[0]
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.timeout(2 * LIMIT_SECS)
def test_twenty_steps_of_two_workers_are_those_of_one_process_with_the_joint_batch():
    processes = workers(20)
    try:
        both = [read_lines(process) for process in processes]
    finally:
        forked.kill_all(processes)
    for task, (start, *steps, end) in enumerate(both):
        assert start["flag"] == [True, True], task  # The chief's; the worker has no values.
        assert start["start"] == both[0][0]["start"]
        assert start["sparse"] == ["table"]
        assert [line["agreed"] for line in steps] == [[[1, 0, i], [2.0]] for i in range(20)]
        assert set(end["end"]) == {"table", "kernel/part_0", "kernel/part_1", "head"}
        for name, value in end["end"].items():
            np.testing.assert_allclose(value, end["expected"][name], rtol=0, atol=1e-5)
            assert np.abs(np.subtract(value, start["start"][name])).max() > 1e-2
            assert value == both[0][-1]["end"][name]


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.timeout(2 * LIMIT_SECS)
def test_a_worker_that_is_killed_ends_the_step_of_the_other_at_once(victim):
    processes = workers(10_000)
    survivor = processes[1 - victim]
    try:
        for line in survivor.stdout:
            if json.loads(line).get("step") == 10:
                break
        processes[victim].kill()
        killed = time.time()
        last = read_lines(survivor)[-1]
    finally:
        forked.kill_all(processes)
    assert last["error"] == "UnavailableError"
    assert last["at"] - killed < 5
