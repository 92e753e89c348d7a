"""Folders of profiles, and the recorded steps in them."""

import re

import pytest

from hand_made_steps import Recording
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.profile_folders import (
    find_folder,
    list_folders,
    read_recorded_run,
    task_name,
)
from tf_frame.profiling.step_profile import to_bytes

OLD, NEW, NEWEST = "2026_01_31_12_00_00_step_100", "2026_01_31_12_05_00", "2026_03_01_00_00_00"


@pytest.fixture
def model_dir(tmp_path):
    """Two runs with recorded steps, the newer of two tasks, and newer folders without profiles."""
    files = {
        OLD: ["h_worker_0.xplane.pb", "h_worker_0.steps.json.gz"],
        NEW: ["h_worker_0.steps.json.gz", "h_worker_1.steps.json.gz", "cache_version.txt"],
        f"{NEWEST}_notes": ["notes.txt"],
        NEWEST: [],
        "a_name": ["h_2222.xplane.pb"],
    }
    for name, names in files.items():
        folder = tmp_path / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        for file in names:
            task = file.removeprefix("h_").partition(".")[0]
            content = to_bytes(Recording(task=task).step(1).profile())
            (folder / file).write_bytes(content if ".steps." in file else b"")
    (tmp_path / "plugins" / "profile" / "a.xplane.pb").touch()
    return tmp_path


def test_folders_are_listed_and_found(model_dir):
    assert [folder.name for folder in list_folders(str(model_dir))] == ["a_name", OLD, NEW]
    folder = find_folder(str(model_dir), OLD)
    assert folder.steps == [f"{folder.path}/h_worker_0.steps.json.gz"]
    assert folder.xplanes == [f"{folder.path}/h_worker_0.xplane.pb"]
    assert find_folder(str(model_dir)).name == NEW
    run = read_recorded_run(str(model_dir))
    assert run.name == NEW
    assert [profile.task for profile in run.profiles] == ["worker_0", "worker_1"]
    assert read_recorded_run(str(model_dir), OLD).name == OLD


@pytest.mark.parametrize(
    ("function", "name", "error", "message"),
    [
        (find_folder, "x", ConfigError, f"no profile 'x'; it has a_name, {OLD}"),
        (read_recorded_run, OLD[:-1], ConfigError, f"--run {OLD[:-1]}: .*did you mean {OLD}"),
        (read_recorded_run, "x", ConfigError, f"it has {OLD}, {NEW}"),
    ],
)
def test_unknown_names_are_refused(model_dir, function, name, error, message):
    with pytest.raises(error, match=message):
        function(str(model_dir), name)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (find_folder, ConfigError, "has no profile, which would be in"),
        (read_recorded_run, DataError, r"has no recorded steps .*; record some with"),
    ],
)
def test_folders_without_profiles_and_missing_folders_are_refused(
    tmp_path, function, error, message
):
    with pytest.raises(error, match=message):
        function(str(tmp_path))
    with pytest.raises(ConfigError, match="x: there is no such folder"):
        function(str(tmp_path / "x"))


@pytest.mark.parametrize("rest", [b"", b"\xff" * 40], ids=["truncated", "overwritten"])
def test_a_damaged_file_is_named_and_the_others_are_read(model_dir, rest, caplog):
    fault = "h_worker_1.steps.json.gz is no profile .* damaged"
    for number in (1, 0):
        path = model_dir / "plugins" / "profile" / NEW / f"h_worker_{number}.steps.json.gz"
        path.write_bytes(path.read_bytes()[:10] + rest)
        if number:
            profiles = read_recorded_run(str(model_dir)).profiles
            assert [profile.task for profile in profiles] == ["worker_0"]
            assert re.search(f"left out: .*{fault}", caplog.text)
    with pytest.raises(DataError, match=fault.replace("1", "0")):
        read_recorded_run(str(model_dir))


def test_a_newer_profile_without_recorded_steps_is_reported(model_dir, caplog):
    (model_dir / "plugins" / "profile" / NEWEST / "here.xplane.pb").touch()
    assert read_recorded_run(str(model_dir)).name == NEW
    assert f"{NEWEST} is newer, but has no recorded steps" in caplog.text


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("my_host_worker_12.steps.json.gz", "worker_12"),
        ("h_ps_0.xplane.pb", "ps_0"),
        ("localhost_2222.xplane.pb", "localhost_2222"),
        ("h0.xplane.pb", "h0"),
    ],
)
def test_a_file_names_its_task(name, task):
    assert task_name(f"/runs/{name}") == task
