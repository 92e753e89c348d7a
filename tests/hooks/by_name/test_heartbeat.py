import json
import os
import socket

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose, Tick
from tf_frame.hooks.by_name.heartbeat import HeartbeatHook


def read(folder, name="heartbeat.json"):
    return json.loads((folder / name).read_text())


def test_it_beats_at_the_first_step_and_every_so_many_seconds(tmp_path, build, train, clock):
    seen = []

    def each(session):
        beat = read(tmp_path)
        seen.append((beat["state"], beat["step"]))

    hook = HeartbeatHook(str(tmp_path), every_secs=20)
    train(build(), [hook, Tick(clock, [10] * 6)], to=6, each=each)
    # The first beat is at 1010 s, after step 1; so 1030 s have come before step 4.
    assert [step for _, step in seen] == [1, 1, 1, 4, 4, 4]
    assert {state for state, _ in seen} == {"training"}


def test_it_says_who_trains_where_and_when(tmp_path, build, train, monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.by_name.heartbeat.time.time", lambda: 1700000000.5)
    train(build(), [HeartbeatHook(str(tmp_path))], to=2)
    assert read(tmp_path) == {
        "state": "ended",
        "step": 2,
        "time": 1700000000.5,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "task": 0,
    }


def test_the_end_has_a_step_that_the_cadence_leaves_out(tmp_path, build, train, clock):
    hook = HeartbeatHook(str(tmp_path), every_secs=1000)
    hook.start(None, 7)
    assert (read(tmp_path)["state"], read(tmp_path)["step"]) == ("starting", 7)
    train(build(), [hook], to=5)
    assert (read(tmp_path)["state"], read(tmp_path)["step"]) == ("ended", 5)


def test_after_an_error_the_state_is_not_that_it_ended(tmp_path, build, train):
    with pytest.raises(RuntimeError, match="failed"):
        train(build(), [HeartbeatHook(str(tmp_path)), Lose(1, RuntimeError("failed"))], to=5)
    assert read(tmp_path)["state"] == "starting"


def test_a_resumed_session_beats_at_its_first_step(tmp_path, build, train, clock):
    seen = []
    for to in (3, 5):
        hook = HeartbeatHook(str(tmp_path), every_secs=1000)
        each = lambda session: seen.append(read(tmp_path)["step"])  # noqa: E731
        train(build(), [hook], to=to, each=each, save_every=100)
    assert seen == [1, 1, 1, 4, 4]


def test_each_worker_has_a_file_of_its_own(tmp_path):
    HeartbeatHook(str(tmp_path), task=2).start(None, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["heartbeat_2.json"]
    assert read(tmp_path, "heartbeat_2.json")["task"] == 2


def test_a_reader_never_sees_half_a_file(tmp_path, monkeypatch):
    hook = HeartbeatHook(str(tmp_path))
    hook.start(None, 1)
    renamed = []

    def rename(source, target, overwrite):
        # Until then the old file is whole, and so is the new one.
        new = read(tmp_path, os.path.basename(source))
        renamed.append((read(tmp_path)["step"], new["step"]))
        os.replace(source, target)

    monkeypatch.setattr("tf_frame.hooks.by_name.heartbeat.tf.io.gfile.rename", rename)
    hook.after_step(None, None, 2)
    assert renamed == [(1, 2)]
    assert [path.name for path in tmp_path.iterdir()] == ["heartbeat.json"]


def test_a_missing_folder_and_seconds_that_are_not_positive_are_refused(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        HeartbeatHook(str(tmp_path / "none")).start(None, 0)
    with pytest.raises(ValueError, match="every_secs is 0; it must be positive"):
        HeartbeatHook(str(tmp_path), every_secs=0)
