"""Status files."""

import os
import shutil
import time

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import status as status_module
from tf_frame.cluster.status import (
    ENDED,
    FAILED,
    STARTING,
    TRAINING,
    NewStatuses,
    note_failure,
    note_stop,
    own_status,
    process_began,
    read_statuses,
    run_command,
    write_status,
)
from tf_frame.errors import ConfigError, TfFrameError


def test_a_folder_that_was_removed_is_not_made_again(tmp_path):
    folder, status = tmp_path / "run", own_status("worker-0", TRAINING, step=3)
    folder.mkdir()
    write_status(str(folder), status)
    assert read_statuses(str(folder)) == [status]
    shutil.rmtree(folder)
    with pytest.raises(TfFrameError, match="run was removed while worker-0 wrote to it"):
        write_status(str(folder), status)
    assert not folder.exists()


def test_a_full_disk_is_one_warning_and_no_error(tmp_path, monkeypatch, caplog):
    def refuse(path, content):
        raise tf.errors.ResourceExhaustedError(None, None, f"{path}; No space left on device")

    monkeypatch.setattr(status_module, "write_file", refuse)
    for step in (3, 4):
        write_status(str(tmp_path), own_status("worker-0", TRAINING, step=step))
    assert [record.message for record in caplog.records] == [
        f"the disk of {tmp_path} is full: tf-frame status shows old figures of worker-0 until "
        "there is room"
    ]


def test_the_start_of_a_process_is_known_and_does_not_change():
    began = process_began(os.getpid())
    assert began == own_status("chief-0", TRAINING).began
    assert 0 < process_began(os.getppid()) <= began
    assert began < time.clock_gettime(time.CLOCK_BOOTTIME)
    assert process_began(2**22) is None


@pytest.mark.parametrize(
    ("facts", "workers", "command"),
    [
        ({}, None, "tf-frame run"),
        ({"num_workers": 1, "num_ps": 0}, None, "tf-frame run"),
        ({"num_workers": 2, "num_ps": 0}, None, "tf-frame launch --num_workers 2 -- run"),
        (
            {"num_workers": 1, "num_ps": 1},
            None,
            "tf-frame launch --num_ps 1 --num_workers 1 -- run",
        ),
        ({"num_workers": 3, "num_ps": 2}, 2, "tf-frame launch --num_ps 2 --num_workers 2 -- run"),
        ({"num_workers": 2, "num_ps": 0}, 1, "tf-frame run"),
    ],
)
def test_the_command_of_a_job_is_that_of_its_chief(tmp_path, facts, workers, command):
    write_status(str(tmp_path), own_status("chief-0", ENDED, **facts))
    write_status(str(tmp_path), own_status("worker-5", ENDED, num_workers=7))  # Of an earlier job.
    said = run_command(str(tmp_path), ["--model_dir", "a b"], num_workers=workers)
    assert said == f"{command} --model_dir 'a b'"


@pytest.mark.parametrize("secs", [3600, -3600])
def test_new_statuses_are_new_although_the_clock_is_set(tmp_path, monkeypatch, secs):
    write_status(str(tmp_path), own_status("chief-0", ENDED))
    write_status(str(tmp_path), own_status("worker-0", TRAINING))
    statuses, now = NewStatuses(str(tmp_path)), time.time
    assert statuses.read() == []
    monkeypatch.setattr(time, "time", lambda: now() + secs)
    ended = own_status("chief-0", ENDED)
    write_status(str(tmp_path), ended)
    assert statuses.read() == [ended]


def test_a_file_in_place_of_the_folder_is_an_error_that_names_it(tmp_path):
    (tmp_path / "tasks").touch()
    with pytest.raises(FileExistsError) as caught:
        write_status(str(tmp_path), own_status("chief-0", TRAINING))
    assert caught.value.filename == str(tmp_path / "tasks")


@pytest.mark.parametrize(
    ("error", "reason", "remedy"),
    [
        (
            ConfigError("workers 2 -> 3\nGo on by tf-frame launch;\nor give another folder"),
            "workers 2 -> 3",
            "Go on by tf-frame launch; or give another folder",
        ),
        (ConfigError("one line"), "one line", None),
        # The same command may go on after it.
        (TfFrameError("the disk is full\nmake room"), "the disk is full", None),
        (ValueError("of a plugin\nwith a second line"), "of a plugin", None),
    ],
)
def test_a_failure_has_its_reason_and_what_the_user_must_change(tmp_path, error, reason, remedy):
    write_status(str(tmp_path), own_status("chief-0", STARTING, step=4))
    note_failure(str(tmp_path), "chief-0", error)
    (status,) = read_statuses(str(tmp_path))
    assert (status.state, status.reason, status.remedy) == (FAILED, reason, remedy)


def test_a_launcher_notes_the_signal_that_stopped_its_tasks(tmp_path):
    folder = str(tmp_path)
    write_status(folder, own_status("chief-0", TRAINING, step=299, max_steps=600))
    write_status(folder, own_status("worker-0", ENDED, step=310, max_steps=600))
    write_status(folder, own_status("worker-1", ENDED, step=600, max_steps=600))
    note_stop(folder, "SIGINT")
    found = {s.task: (s.state, s.step, s.reason) for s in read_statuses(folder)}
    assert found == {
        "chief-0": (ENDED, None, "stopped by SIGINT"),  # Its steps were not saved.
        "worker-0": (ENDED, 310, "stopped by SIGINT"),
        "worker-1": (ENDED, 600, None),
    }
