"""`tf-frame status`: tables and JSON of status files, of this machine and others."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

from tf_frame.cluster.status import TaskStatus, write_status

HOST = socket.gethostname()


def write(folder, task, *, age=3.0, state="training", pid=None, host=HOST, **values):
    pid = os.getpid() if pid is None else pid
    seen = time.time() - age
    task_status = TaskStatus(task=task, state=state, time=seen, pid=pid, host=host, **values)
    write_status(str(folder), task_status)


@pytest.fixture
def ended_pid():
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def test_a_job(run, tmp_path, ended_pid):
    rates = {"max_steps": 500, "steps_per_sec": 3.25, "runs_per_sec": 1.5}
    write(tmp_path, "worker-10", step=119, staleness=0.75, host="elsewhere", **rates)
    write(tmp_path, "worker-2", age=95.2, step=60, pid=ended_pid, **rates)
    write(tmp_path, "chief-0", step=120, **rates)
    write(tmp_path, "ps-0", state="serving")
    write(tmp_path, "evaluator-0", state="ended", age=100, pid=ended_pid)
    code, out, err = run(tmp_path)
    assert (code, err) == (0, "")
    heading, *lines = out.splitlines()
    assert heading == f"{tmp_path}: step 120 of 500, 3.25 steps/s"
    rows = [" ".join(line.split()) for line in lines]
    me = f"pid {os.getpid()} on {HOST}, alive"
    assert rows == [
        "TASK STATE HEARTBEAT STEP RUNS/S STALENESS PROCESS",
        f"chief-0 training 3 s ago 120 1.50 - {me}",
        f"evaluator-0 ended 100 s ago - - - pid {ended_pid} on {HOST}, gone",
        f"ps-0 serving 3 s ago - - - {me}",
        f"worker-2 training no heartbeat for 95 s 60 1.50 - pid {ended_pid} on {HOST}, gone",
        f"worker-10 training 3 s ago 119 1.50 0.75 pid {os.getpid()} on elsewhere",
    ]


def test_a_single_process_before_its_first_step(run, tmp_path):
    write(tmp_path, "chief-0", state="starting", age=-5)  # A clock that is ahead.
    code, out, _ = run(tmp_path)
    assert code == 0
    assert out.startswith(f"{tmp_path}: no step yet\n")
    assert "0 s ago" in out


def test_json(run, tmp_path):
    write(tmp_path, "chief-0", age=40, step=7)
    write(tmp_path, "worker-0", host="elsewhere")
    code, out, _ = run(tmp_path, "--json")
    chief, worker = json.loads(out)
    assert code == 0
    assert (chief["task"], chief["step"]) == ("chief-0", 7)
    assert (chief["silent"], chief["alive"]) == (True, True)
    assert chief["heartbeat_age_secs"] >= 40
    assert (worker["silent"], worker["alive"]) == (False, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FOLDER"], "has no status files"),
        (["FOLDER/none"], "there is no such folder"),
        (["FOLDER", "other"], "takes one folder, MODEL_DIR; given: "),
        (["FOLDER", "--jsn"], "did you mean --json?"),
    ],
)
def test_what_is_no_run(run, tmp_path, words, message):
    code, out, err = run(*(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_of_other_programs_are_no_statuses(run, tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/chief-0.json").write_text("{")
    (tmp_path / "tasks/list.json").write_text("[]")
    write(tmp_path, "worker-1", pid="abc")
    assert "has no status files" in run(tmp_path)[2]
    write(tmp_path, "worker-0", step=3)
    assert run(tmp_path)[0] == 0
