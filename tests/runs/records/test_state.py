import os
import time

import pytest

from tf_frame.cluster.status import read_status
from tf_frame.file_lock import file_lock
from tf_frame.runs.records.state import find_state
from tf_frame.runs.setup.folder_claim import launching


def find(folder, *, is_gone=True):
    return find_state(folder, read_status(folder), is_gone=is_gone)


@pytest.mark.parametrize(
    ("status", "result", "name"),
    [
        ({}, {}, "done"),
        ({"max_steps": None}, {}, "done"),
        ({"step": 12}, {"global_step": 12}, "ended early"),
        ({"step": 12}, {"global_step": 12, "stopped_by": "SIGTERM"}, "stopped by SIGTERM"),
        ({"step": None, "reason": "stopped by SIGINT"}, None, "stopped by SIGINT"),
        ({"state": "failed", "reason": "the disk is full"}, None, "failed"),
        ({"state": "failed", "diverged": True}, None, "diverged"),
        ({"state": "training", "step": 12}, None, "gone"),
        ({"state": "starting", "step": None}, None, "gone"),
        ({}, {"time": 1.0}, "gone"),  # The result of an earlier run.
    ],
)
def test_runs_that_are_over(make_run, status, result, name):
    state = find(make_run("run", status=status, result=result))
    assert (state.name, state.is_over) == (name, True)


@pytest.mark.parametrize("name", ["starting", "waiting", "training", "evaluating"])
def test_runs_that_go_on(make_run, name):
    folder = make_run("run", status={"state": name, "step": 3})
    assert (state := find(folder, is_gone=False)).name == name and not state.is_over
    assert find_state(folder, read_status(folder), is_gone=False, now=time.time() + 60).name == (
        "silent"
    )


def test_the_evaluation_after_the_last_step(make_run):
    folder = make_run("run", status={"state": "ended"})
    assert find_state(folder, read_status(folder), is_gone=False, now=time.time() + 60).name == (
        "evaluating"
    )


def test_a_launcher_begins_a_run_again(make_run):
    folder = make_run("run", status={"state": "training", "step": 3})
    with launching(folder):
        assert (find(folder).name, find(folder).is_over) == ("restarting", False)
    assert find(folder).name == "gone"


def test_another_process_has_begun_to_run_in_the_folder(make_run):
    folder = make_run("run", result={})
    with file_lock(os.path.join(folder, "run.lock")):
        state = find(folder)
    assert (state.name, state.is_over) == ("starting", False)
    assert state.writer.startswith(f"process {os.getpid()} on ")
