import pytest

from tf_frame.profiling.retention import Removed, retain


@pytest.fixture
def profiles(tmp_path):
    """Three captures, one with a name of its own, and a folder without a capture."""
    folder = tmp_path / "plugins" / "profile"
    for name, file in {
        "2026_01_01_00_00_00_step_1": "h.xplane.pb",
        "2026_01_02_00_00_00_step_9": "h.steps.json.gz",
        "2026_01_03_00_00_00_step_5": "h.xplane.pb",
        "2025_01_01_00_00_00": "h.txt",
        "keep_me": "h.xplane.pb",
    }.items():
        (folder / name / "cache").mkdir(parents=True)
        (folder / name / file).write_bytes(b"12345")
        (folder / name / "cache" / "more").write_bytes(b"123")
    return folder


def names(profiles):
    return sorted(path.name for path in profiles.iterdir())


def test_the_newest_stay_and_only_captures_go(tmp_path, profiles):
    removed = retain(str(tmp_path), keep=1)
    paths = [
        profiles / name for name in ("2026_01_01_00_00_00_step_1", "2026_01_02_00_00_00_step_9")
    ]
    assert removed == [Removed(str(path), 8) for path in paths]
    assert names(profiles) == ["2025_01_01_00_00_00", "2026_01_03_00_00_00_step_5", "keep_me"]


def test_a_relative_folder_is_the_same(tmp_path, profiles, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    path = f"{tmp_path.name}/plugins/profile/2026_01_01_00_00_00_step_1"
    assert retain(tmp_path.name, keep=2) == [Removed(path, 8)]


def test_files_that_tensorboard_keeps_beside_captures_go_with_them(tmp_path, profiles):
    folder = profiles / "2026_01_01_00_00_00_step_1"
    for name in (
        "ALL_HOSTS.op_stats_v2.pb",
        "h.SSTABLE",
        "h.trace_viewer.SSTABLE",
        ".cached_tools.json",
        "cache_version.txt",
    ):
        (folder / name).write_bytes(b"12")
    assert retain(str(tmp_path), keep=2) == [Removed(str(folder), 18)]
    assert not folder.exists()


def test_a_dry_run_and_few_profiles_remove_nothing(tmp_path, profiles):
    before = names(profiles)
    assert len(retain(str(tmp_path), keep=0, dry_run=True)) == 3
    assert names(profiles) == before
    assert retain(str(tmp_path), keep=3) == []
    assert retain(str(tmp_path / "no_such_folder"), keep=3) == []


def test_a_folder_that_cannot_be_removed_is_an_error(tmp_path, profiles, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(OSError, match="Permission denied"):
        retain(str(tmp_path), keep=0)
