"""Folders of profiles, and the recorded steps in them."""

import re

import pytest

from hand_made_steps import Recording
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.profile_folders import (
    Removed,
    find_folder,
    list_folders,
    read_recorded_run,
    retain,
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
    ("find", "folder", "name", "error", "message"),
    [
        (find_folder, "", "x", ConfigError, f"no profile 'x'; it has a_name, {OLD}"),
        (read_recorded_run, "", OLD[:-1], ConfigError, f"--run {OLD[:-1]}: .*did you mean {OLD}"),
        (read_recorded_run, "", "x", ConfigError, f"it has {OLD}, {NEW}"),
        (find_folder, "plugins", None, ConfigError, "has no profile, which would be in"),
        (read_recorded_run, "plugins", None, DataError, "has no recorded steps .*; record some"),
        (find_folder, "x", None, ConfigError, "x: there is no such folder"),
        (read_recorded_run, "x", None, ConfigError, "x: there is no such folder"),
    ],
)
def test_unknown_names_and_folders_are_refused(model_dir, find, folder, name, error, message):
    with pytest.raises(error, match=message):
        find(str(model_dir / folder), name)


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


def test_the_newest_profiles_stay_and_only_captures_go(model_dir, monkeypatch):
    profiles = model_dir / "plugins" / "profile"
    # TensorBoard keeps files next to captures.
    (profiles / OLD / "cache").mkdir()
    for file in ("ALL_HOSTS.op_stats_v2.pb", "h.SSTABLE", ".cached_tools.json", "cache/more"):
        (profiles / OLD / file).write_bytes(b"123")
    before = set(profiles.iterdir())
    sizes = {
        name: sum(path.stat().st_size for path in (profiles / name).rglob("*") if path.is_file())
        for name in (OLD, NEW)
    }
    removed = [Removed(str(profiles / name), size) for name, size in sizes.items()]
    assert retain(str(model_dir), keep=0, dry_run=True) == removed
    assert retain(str(model_dir), keep=3) == []
    assert retain(str(model_dir / "no_such_folder"), keep=3) == []
    assert set(profiles.iterdir()) == before
    monkeypatch.chdir(model_dir.parent)
    path = f"{model_dir.name}/plugins/profile/{OLD}"
    assert retain(model_dir.name, keep=1) == [Removed(path, sizes[OLD])]
    assert before - set(profiles.iterdir()) == {profiles / OLD}


def test_a_folder_that_cannot_be_removed_is_an_error(model_dir, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("shutil.rmtree", refuse)
    with pytest.raises(OSError, match="Permission denied"):
        retain(str(model_dir), keep=0)
