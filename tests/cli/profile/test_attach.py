"""`tf-frame profile attach` with status files of tasks that do not run."""

import dataclasses
import functools
import json
import os
import time
from pathlib import Path

import pytest

from step_profiles import make_profile
from tf_frame.cluster.status import SERVING, TRAINING, TaskStatus, own_status, write_status
from tf_frame.file_lock import file_lock
from tf_frame.profiling.attach_request import ProfileRequest, write_request
from tf_frame.profiling.profile_folders import FAILURE
from tf_frame.profiling.step_profile import to_bytes

OP = ("/job:chief/replica:0/task:0/device:CPU:0", "a", "Add", 10, 20)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job of this process as chief, with others; the signal makes the given files."""

    def job(*others, writes=()):
        for status in (own_status("chief-0", TRAINING), *others):
            write_status(str(tmp_path), status)
        monkeypatch.setattr("tf_frame.cli.profile.attach.listens", lambda pid: True)
        monkeypatch.setattr(
            "tf_frame.cli.profile.attach.os.kill",
            lambda pid, signum: answer(writes) if signum else None,
        )

    def answer(writes):
        request = json.loads((tmp_path / "profile_request.json").read_text())
        run = tmp_path / "plugins" / "profile" / f"2026_01_31_12_00_00_{request['label']}"
        run.mkdir(parents=True, exist_ok=True)
        for task in writes:
            path = run / f"{os.uname().nodename}_{task}"
            if task.endswith(FAILURE):
                path.write_text("its disk is full")
            elif task.startswith("ps"):
                Path(f"{path}.xplane.pb").write_bytes(b"")
            else:
                Path(f"{path}.steps.json.gz").write_bytes(to_bytes(make_profile(task, [OP])))

    return job


@pytest.fixture
def attach(tmp_path, tf_frame):
    return functools.partial(tf_frame, "profile", "attach", tmp_path, "--timeout_secs", "1")


def elsewhere(task, state=TRAINING):
    return TaskStatus(task=task, state=state, time=0.0, pid=1, host="elsewhere")


def test_workers_of_other_machines_are_named_and_not_waited_for(job, attach):
    job(elsewhere("worker-0"), writes=["chief_0"])
    code, out, err = attach("--tasks", "all", "--json")
    assert code == 0
    assert "worker-0 is not asked: it runs on elsewhere; give the command there" in err
    assert "trace.json.gz" in err and json.loads(out)["step"]


def test_a_chief_that_is_the_first_worker_of_its_cluster(job, attach):
    job(writes=["worker_0"])
    code, out, _ = attach()
    assert code == 0 and "asked chief-0" in out and "trace.json.gz" not in out


@pytest.mark.slow
def test_the_file_of_another_worker_is_not_that_of_the_chief(job, attach):
    job(own_status("worker-0", TRAINING), writes=["worker_0"])
    code, _, err = attach("--tasks", "all")
    assert code == 1 and "no profile from chief-0 within 1 s" in err


@pytest.mark.slow
def test_a_server_that_writes_nothing_is_named(job, attach):
    servers = (own_status("ps-0", SERVING), elsewhere("ps-1", SERVING))
    job(*servers, writes=["chief_0", "ps_0"])
    code, _, err = attach("--tasks", "all")
    assert code == 1
    assert "no profile from ps-1 within 1 s" in err and "the others' profile: " in err


def test_a_server_that_fails_is_not_waited_for(job, attach):
    job(own_status("ps-0", SERVING), writes=["chief_0", f"ps_0{FAILURE}"])
    code, _, err = attach("--tasks", "all", "--timeout_secs", "1000")
    assert code == 1
    assert "ps-0 made no profile: its disk is full; the others' profile: " in err


def test_a_process_of_another_user_is_not_asked(job, attach, monkeypatch):
    def refuse(pid, signum):
        raise PermissionError

    job()
    monkeypatch.setattr("tf_frame.cli.profile.attach.os.kill", refuse)
    code, _, err = attach()
    assert code == 2
    assert f"chief-0 is not asked: its process {os.getpid()} belongs to another user" in err


def test_the_request_is_gone_afterwards(job, attach, tmp_path):
    job(writes=["chief_0"])
    assert attach()[0] == 0
    assert not (tmp_path / "profile_request.json").exists()


def test_while_another_process_asks_it_is_refused(job, attach, tmp_path):
    job(writes=["chief_0"])
    with file_lock(str(tmp_path / "profile_request.lock")):
        code, _, err = attach()
    name = f"process {os.getpid()} on {os.uname().nodename}"
    assert code == 2 and f"{name} waits for a profile of" in err
    # The request of a process that has ended is in nobody's way.
    write_request(str(tmp_path), ProfileRequest("attach_1", 10, pid=2**22))
    assert attach()[0] == 0


def test_a_process_that_ends_before_it_is_asked_is_named(job, attach, monkeypatch):
    def kill(pid, signum):
        if signum:
            raise ProcessLookupError

    job()
    monkeypatch.setattr("tf_frame.cli.profile.attach.os.kill", kill)
    code, _, err = attach()
    assert code == 1 and "chief-0 ended before it could be asked" in err


@pytest.mark.parametrize("secs", [3600, -3600])
def test_a_clock_that_was_set_is_no_other_process(job, attach, monkeypatch, secs):
    job(writes=["chief_0"])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + secs)
    assert attach()[0] == 0


def test_another_process_with_the_number_of_one_that_has_ended_is_not_asked(job, attach, tmp_path):
    job(writes=["chief_0"])
    old = dataclasses.replace(own_status("chief-0", TRAINING), began=1.0)
    write_status(str(tmp_path), old)
    code, _, err = attach()
    assert code == 2 and f"its process has ended; another one is {os.getpid()} now" in err
